"""Checks of the single fields that scripts, faults and calls are made of."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

from dexnb.errors import DefinitionError

LONGEST_ID = 200
LONGEST_TEXT = 16_000
# Thirty years: sums stay exact enough, and no timer of any loop overflows.
LONGEST_SECONDS = 1e9

_MOST_ENTRIES = 1_000
_MOST_SHOWN = 80


def refuse(field: str, value: object, fix: str) -> DefinitionError:
    """Build the error that names the field, the value (cut short) and the fix."""
    shown = _shown(value)
    return DefinitionError(f"{field} is {shown}: {fix}")


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:
        # An integer of more digits than Python prints.
        text = f"a very large {type(value).__name__}"
    return text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "..."


def _number(field: str, value: object, fix: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise refuse(field, value, fix)
    try:
        number = float(value)
    except OverflowError:
        raise refuse(field, value, fix) from None
    if not math.isfinite(number):
        raise refuse(field, value, fix)
    return number


def check_seconds(field: str, value: object, *, above_zero: bool = False) -> float:
    """Give a duration back as a float.

    Raises:
        DefinitionError: Not a finite number of seconds, negative, or over 1e9.
    """
    least = "more than 0" if above_zero else "0 or more"
    fix = f"give seconds as a number, {least} and at most 1e9"
    seconds = _number(field, value, fix)
    if seconds < 0 or seconds > LONGEST_SECONDS or (above_zero and seconds == 0):
        raise refuse(field, value, fix)
    return seconds


def check_rate(field: str, value: object) -> float:
    """Give a probability back as a float.

    Raises:
        DefinitionError: Not a number from 0 to 1.
    """
    fix = "give a probability from 0 (never) to 1 (always)"
    rate = _number(field, value, fix)
    if not 0 <= rate <= 1:
        raise refuse(field, value, fix)
    return rate


def check_pair(field: str, value: object) -> tuple[float, float]:
    """Give a range or window of seconds back as two floats.

    Raises:
        DefinitionError: Not two durations of which the second is at least the first.
    """
    fix = "give a pair of seconds, (from, to), with from <= to"
    match value:
        case [first, last]:
            start, end = check_seconds(field, first), check_seconds(field, last)
            if start <= end:
                return start, end
    raise refuse(field, value, fix)


def check_windows(field: str, value: object) -> tuple[tuple[float, float], ...]:
    """Give a list of windows back as pairs of floats.

    Raises:
        DefinitionError: Not a list of (from, to) pairs, or more than 1,000 of them.
    """
    pairs = check_list(field, value, "pairs (from, to) in seconds")
    return tuple(check_pair(f"{field}[{number}]", pair) for number, pair in enumerate(pairs))


def check_list(field: str, value: object, entries: str) -> list[object]:
    """Give a list of bounded length back.

    Raises:
        DefinitionError: Neither list nor tuple, or more than 1,000 entries.
    """
    if not isinstance(value, list | tuple) or len(value) > _MOST_ENTRIES:
        raise refuse(field, value, f"give a list of at most {_MOST_ENTRIES} {entries}")
    return list(value)


def check_text(field: str, value: object, longest: int = LONGEST_TEXT) -> str:
    """Give a text back unchanged.

    Raises:
        DefinitionError: Not a string, too long, or not writable as UTF-8 (a lone surrogate).
    """
    if not isinstance(value, str):
        raise refuse(field, value, "give a string")
    if len(value) > longest:
        raise refuse(field, value, f"it has {len(value)} characters; at most {longest} fit")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise refuse(field, value, "it holds half of a surrogate pair; give whole text") from None
    return value


def check_job_id(value: object) -> str:
    """Give a job id back unchanged; whatever is in it is a name and never interpreted.

    Raises:
        DefinitionError: Empty, longer than 200 characters, or not text.
    """
    job_id = check_text("job_id", value, LONGEST_ID)
    if not job_id:
        raise refuse("job_id", value, "give at least one character")
    return job_id


def check_object(what: str, document: object, known: Collection[str]) -> dict[str, Any]:
    """Give a JSON object back once all its fields are known.

    Raises:
        DefinitionError: Not an object, or a field that means nothing here.
    """
    if not isinstance(document, dict):
        raise refuse(what, document, "give a JSON object")
    for name in document:
        if name not in known:
            raise refuse(f"{what} field", name, f"the fields are {', '.join(sorted(known))}")
    return document
