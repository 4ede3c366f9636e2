"""Documents of what a method changed and of what it waits for."""

from __future__ import annotations

from typing import Any

from dexnb.errors import DocumentError
from dexnb.model.json_text import NUMBER, Fields, check_choice, check_fields

WAIT_KINDS = ("skip", "all_of", "any_of", "any_combination_of")

_WRITES: Fields = {
    "attributes": dict,
    "deleted": list,
    "published": list,
    "removed": list,
    "recorded": dict,
    "locals": dict,
}
_CONDITIONS: dict[str, Fields] = {
    "timer": {"id": str, "seconds": NUMBER},
    "channel": {"id": str, "channel": str, "at_least": int, "at_most": (int, type(None))},
    "subflow": {"id": str, "start": dict, "reuse_policy": str},
}


def writes_from(document: Any) -> dict[str, Any]:
    """Take a document of changes: what a method changed is in it, and nothing else.

    `attributes` by physical name, `deleted` Attributes, values `published` and messages `removed`
    as pairs with their Channel, `recorded` events by name, `locals` of the execution.

    Raises:
        DocumentError: It is no such document.
    """
    given: dict[str, Any] = check_fields(document, {}, "writes")
    unknown = given.keys() - _WRITES.keys()
    if unknown:
        message = f"writes hold the unknown field {min(unknown)!r}"
        raise DocumentError(message)
    check_fields(given, {name: _WRITES[name] for name in given}, "writes")
    for name in given.get("deleted", ()):
        check_fields({"name": name}, {"name": str}, "deleted Attribute")
    for part in ("published", "removed"):
        for pair in given.get(part, ()):
            if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str):  # noqa: PLR2004
                message = f"writes {part} holds no pair of Channel and value"
                raise DocumentError(message)
    for _, identity in given.get("removed", ()):
        check_fields({"id": identity}, {"id": str}, "removed message")
    return given


def wait_from(document: Any) -> dict[str, Any]:
    """Take a document of what is waited for: its kind, its conditions, their combinations.

    Raises:
        DocumentError: It is no such document.
    """
    fields: Fields = {"kind": str, "conditions": list, "combinations": list}
    given: dict[str, Any] = check_fields(document, fields, "wait")
    check_choice(given["kind"], WAIT_KINDS, "wait kind")
    for condition in given["conditions"]:
        check_fields(condition, {"kind": str}, "condition")
        check_choice(condition["kind"], _CONDITIONS, "condition kind")
        check_fields(condition, _CONDITIONS[condition["kind"]], "condition")
    places = range(len(given["conditions"]))
    for combination in given["combinations"]:
        if not isinstance(combination, list) or not all(
            type(place) is int and place in places for place in combination
        ):
            message = "a combination names conditions that the wait does not have"
            raise DocumentError(message)
    return given
