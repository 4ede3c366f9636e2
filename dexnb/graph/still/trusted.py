"""What a text's imports may be bound to, and what may be called on its behalf: allow-lists only.

Everything else is `Opaque`. Data of the process (its environment, its platform) is opaque too: a
text reads the same everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any, Final

from dexnb.graph.opaque import Opaque

_STANDARD: Final = frozenset(
    {
        *("abc", "anyio", "asyncio", "collections", "collections.abc", "contextlib"),
        *("dataclasses", "datetime", "enum", "functools", "itertools", "json", "logging"),
        *("math", "operator", "os", "os.path", "pathlib", "random", "re", "time", "types"),
        *("typing", "uuid"),
    }
)
_WITH_PARTS: Final = frozenset({"asyncio", "anyio", "json"})
_DEXNB: Final = ("dexnb.flow", "dexnb.errors", "dexnb.clock", "dexnb.jobs", "dexnb.model")
_DEX: Final = "dex"
"""Dex's own module has the same authoring names."""

_LATER: Final = frozenset(
    {
        *("AsyncClient", "Client", "FlowInfo", "FlowResult", "Lab", "Run", "Runtime"),
        *("RuntimeOptions", "SearchFlowEntry", "SearchFlowsPage", "Session"),
        *("StepCompletion", "StreamMessagesPage", "lab", "open"),
    }
)
"""Names of dexnb's root that lead to the engine and the Lab, which no definition needs."""

_MAKERS: Final = (
    "dexnb.flow.attribute",
    "dexnb.flow.attribute_index",
    "dexnb.flow.channel",
    "dexnb.flow.channel_map",
    "dexnb.flow.decision",
    "dexnb.flow.flow_config",
    "dexnb.flow.movement",
    "dexnb.flow.options",
    "dexnb.flow.persistence",
    "dexnb.flow.rpc",
    "dexnb.flow.start_options",
    "dexnb.flow.step",
    "dexnb.flow.stream",
    "dexnb.flow.subflow",
    "dexnb.flow.timer",
    "dexnb.flow.wait",
)
"""Where the definitions and options are that may be made; none of them does anything else."""

_BUILTINS: Final = frozenset(
    {
        *(abs, bool, dict, divmod, enumerate, float, frozenset, int, len, list, max, min, range),
        *(reversed, round, set, str, sum, tuple, zip),
        *(timedelta, datetime, date, time),
        *(math.ceil, math.floor, math.trunc, math.isinf, math.sqrt, math.log, math.log2),
    }
)
_METHODS: Final[dict[type, frozenset[str]]] = {
    str: frozenset(
        {
            *("lower", "upper", "strip", "lstrip", "rstrip", "title"),
            *("removeprefix", "removesuffix"),
        }
    ),
    timedelta: frozenset({"total_seconds"}),
    dict: frozenset({"get", "values", "items", "keys", "copy"}),
    list: frozenset({"copy", "index", "count"}),
    tuple: frozenset({"index", "count"}),
}


_MOST_KEPT: Final = 500
"""Names that are kept; a text may make up as many below the allowed ones as it likes."""


def trusted_module(name: str) -> ModuleType | None:
    """Give a module of the allow-list; None for any other, or where it is not installed."""
    if name == _DEX:
        name = "dexnb"
    known = name in _STANDARD or name == "dexnb" or _is_dexnb(name)
    if not known and name.rpartition(".")[0] not in _WITH_PARTS:
        return None
    return _imported(name)


@lru_cache(_MOST_KEPT)
def _imported(name: str) -> ModuleType | None:
    try:
        return import_module(name)
    except ImportError:
        return None


def _is_dexnb(name: str) -> bool:
    return any(name == each or name.startswith(f"{each}.") for each in _DEXNB)


def module_attribute(module: ModuleType, name: str) -> Any:
    """Give what a trusted module has under a name: a class, a function, a module or a constant."""
    home = module.__name__
    origin = Opaque(f"{home}.{name}")
    if home.partition(".")[0] == "dexnb":
        return _of_dexnb(module, name, origin)
    found = vars(module).get(name, origin)
    if isinstance(found, ModuleType):
        return trusted_module(f"{home}.{name}") or origin
    constant = home in ("math", "datetime") or callable(found) or home == "typing"
    return found if constant and not name.startswith("__") else origin


def _of_dexnb(module: ModuleType, name: str, origin: Opaque) -> Any:
    home = module.__name__
    if home == "dexnb" and name in _LATER:
        return origin
    below = trusted_module(f"{home}.{name}") if not hasattr(module, "__getattr__") else None
    if below is not None:
        return below
    if home == "dexnb" and name not in vars(module)["__all__"]:
        return trusted_module(f"dexnb.{name}") or origin
    return origin if name.startswith("__") else getattr(module, name, origin)


def is_maker(callee: Any) -> bool:
    """Tell what makes a definition or an option of dexnb's and does nothing else."""
    found = getattr(callee, "__func__", callee)
    if isinstance(found, type | FunctionType):
        return found.__module__ in _MAKERS
    return False


def is_plain_call(callee: Any) -> bool:
    """Tell a function of Python's own that may be called with plain values."""
    try:
        return callee in _BUILTINS
    except TypeError:
        return False


def plain_method(owner: Any, name: str) -> Callable[..., Any] | None:
    """Give a method of a plain value that may be called, or None."""
    if name not in _METHODS.get(type(owner), ()):
        return None
    found: Callable[..., Any] = getattr(owner, name)
    return found
