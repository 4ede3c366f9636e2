"""What a picture shows beside the Steps, and what of a graph that leaves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

from dexnb.errors import DefinitionError

Layer = Literal[
    "ground",
    "header",
    "settings",
    "waits",
    "guards",
    "failures",
    "streams",
    "channels",
    "attributes",
    "rpcs",
    "subflows",
    "resources",
    "legend",
]
"""`ground` is the colour behind all, `guards` the conditions on ways (cards keep theirs).
`resources` lists the Streams, Channels and Attributes themselves, with the types of their values;
`streams`, `channels` and `attributes` say which Step uses which."""

LAYERS: frozenset[Layer] = frozenset(get_args(Layer))


def check_layers(layers: Iterable[str] | None) -> frozenset[str]:
    """Give the layers asked for; all of them for None.

    Raises:
        DefinitionError: There is no layer of that name.
    """
    if layers is None:
        return frozenset(LAYERS)
    asked = frozenset([layers] if isinstance(layers, str) else layers)
    if unknown := sorted(asked - LAYERS):
        message = f"layers has {', '.join(unknown)}: choose among {', '.join(get_args(Layer))}"
        raise DefinitionError(message)
    return asked
