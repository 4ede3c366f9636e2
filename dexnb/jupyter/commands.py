"""What a page may ask of its Lab: names and arguments as they come, checked before use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dexnb.errors import DefinitionError
from dexnb.model.finding import Place
from dexnb.model.shown import shown

if TYPE_CHECKING:
    from dexnb.jupyter.lab import Lab


def carry_out(lab: Lab, name: str, args: dict[str, Any]) -> Any:
    """Do what a page asks for; gives plain JSON.

    Raises:
        DexnbError: It cannot be done; the text is for the page's user.
    """
    command = _COMMANDS.get(name)
    if command is None:
        message = f"the page asked for {name[:100]!r}; known are {', '.join(_COMMANDS)}"
        raise DefinitionError(message)
    return command(lab, args)


def _set_knob(lab: Lab, args: dict[str, Any]) -> float:
    name = args.get("name")
    if not isinstance(name, str):
        message = f"the knob's name is {name!r}: give a str"
        raise DefinitionError(message)
    return lab.set_knob(name, args.get("value"), live=args.get("live") is not False)


def _set_dispatcher(lab: Lab, args: dict[str, Any]) -> None:
    lab.set_dispatcher(
        min_poll_interval=args.get("min_poll_interval"),
        long_poll_timeout=args.get("long_poll_timeout"),
    )


def _set_speed(lab: Lab, args: dict[str, Any]) -> None:
    factor = args.get("factor")
    if not isinstance(factor, int | float) or isinstance(factor, bool):
        message = f"speed is {factor!r}: give a number"
        raise DefinitionError(message)
    lab.set_speed(factor)


def _source_of(lab: Lab, args: dict[str, Any]) -> dict[str, Any]:
    given = args.get("place")
    try:
        place = Place(**given) if isinstance(given, dict) else None
    except TypeError:
        place = None
    numbers = () if place is None else (place.line, place.end_line)
    if place is None or not all(isinstance(number, int) for number in numbers):
        message = f"the place of a source is {shown(given)}: give a finding's"
        raise DefinitionError(message)
    return lab.source_of(place)


def _explain(args: dict[str, Any]) -> dict[str, str]:
    # Loaded here: a Lab without findings needs no rules.
    from dexnb.lint import explain  # noqa: PLC0415

    title, _, page = explain(str(args.get("code"))).partition("\n\n")
    return {"title": title, "page": page}


_COMMANDS: dict[str, Callable[[Lab, dict[str, Any]], Any]] = {
    "run": lambda lab, _: lab.start().run_id,
    "stop": lambda lab, _: lab.stop(),
    "rerun": lambda lab, _: lab.rerun().run_id,
    "complete_job": lambda lab, _: lab.complete_job(),
    "set_knob": _set_knob,
    "set_dispatcher": _set_dispatcher,
    "set_speed": _set_speed,
    "source_of": _source_of,
    "explain": lambda _, args: _explain(args),
}
