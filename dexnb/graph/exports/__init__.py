"""A `FlowGraph` in the forms that other programs read, one file each; each loads when first used.

`to_networkx`, `to_dex_json` (and `from_dex_json`), `to_mermaid`, `to_dot`, `to_svg`, `to_png`. None
cuts a graph; names and guards stay text whatever they hold, and guards come from the reader, which
hides what looks like a credential.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dexnb.graph.exports.dex_json import to_dex_json
    from dexnb.graph.exports.dex_json_reader import from_dex_json
    from dexnb.graph.exports.dot import to_dot
    from dexnb.graph.exports.mermaid import to_mermaid
    from dexnb.graph.exports.networkx_graph import to_networkx
    from dexnb.graph.exports.png import to_png
    from dexnb.graph.exports.svg import to_svg

__all__ = [
    "from_dex_json",
    "to_dex_json",
    "to_dot",
    "to_mermaid",
    "to_networkx",
    "to_png",
    "to_svg",
]

_HOME = {
    "from_dex_json": "dex_json_reader",
    "to_dex_json": "dex_json",
    "to_dot": "dot",
    "to_mermaid": "mermaid",
    "to_networkx": "networkx_graph",
    "to_png": "png",
    "to_svg": "svg",
}


def __getattr__(name: str) -> Any:
    """Load a form when it is first used."""
    if name not in _HOME:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
