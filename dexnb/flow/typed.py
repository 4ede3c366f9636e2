"""Reading stored JSON as a given type, and checking a value against a declared one."""

from __future__ import annotations

import typing
from typing import Any

from dexnb.errors import ValueMappingError
from dexnb.flow.alike import defined_again, difference
from dexnb.flow.codec import encode
from dexnb.flow.reader import Reader
from dexnb.flow.shape import name_of, unwrap
from dexnb.flow.tags import Unfit

_READ_AS_THEY_ARE = (str, int, float, bool, bytes, type(None))
_UNTYPED = (list, tuple, dict)


def decode(document: Any, type_: Any, operation: str = "decode a value") -> Any:
    """Read a plain JSON form as `type_`.

    Raises:
        ValueMappingError: It does not fit; the text names the path, the type and what stands there.
    """
    try:
        return Reader().read(document, type_)
    except Unfit as error:
        raise ValueMappingError(operation, str(error)) from error.__cause__
    except RecursionError:
        raise ValueMappingError(operation, "value is nested too deeply") from None


def decode_kept(document: Any, type_: Any, operation: str) -> Any:
    """Read what a run keeps, which was checked when it was stored: only other code cannot read it.

    Raises:
        ValueMappingError: It does not fit; the text says how the run goes on, too.
    """
    try:
        return decode(document, type_, operation)
    except ValueMappingError as error:
        raise ValueMappingError(operation, f"{error.detail}; {_OTHER_CODE}") from error.__cause__


_OTHER_CODE = (
    "other code has stored it: declare its type so that it can be read, or give its codec; a run "
    "that has failed of this goes on from there by Client.time_travel"
)


def check(value: Any, type_: Any, operation: str) -> Any:
    """Encode a value that must be of the declared type: whoever reads it as that gets it back.

    Raises:
        ValueMappingError: It is of another type, cannot be stored, or would come back changed.
    """
    declared = unwrap(type_)
    _check_class(value, declared, operation)
    if declared in _READ_AS_THEY_ARE and isinstance(value, declared):
        return encode(value, operation)
    document = encode(value, operation)
    changed = difference(value, decode(document, declared, operation))
    if changed:
        raise ValueMappingError(operation, changed)
    return document


def check_input(value: Any, type_: Any, operation: str) -> Any:
    """Encode an input as `check` does; say of a missing or needless one that it is that.

    Raises:
        ValueMappingError: It does not fit, or cannot be stored.
    """
    if unwrap(type_) is type(None) and value is not None:
        raise ValueMappingError(operation, f"takes no input, got {name_of(type(value))}")
    try:
        return check(value, type_, operation)
    except ValueMappingError:
        if value is not None:
            raise
        wanted = f"an input of type {name_of(unwrap(type_))} is required, got None"
        raise ValueMappingError(operation, wanted) from None


def check_own(value: Any, operation: str) -> Any:
    """Encode a value whose reader will name its type: nothing of its own class may be lost.

    Raises:
        ValueMappingError: It cannot be stored, or would come back changed.
    """
    # What types the items of a list or dict have, only the reader says.
    if type(value) in _UNTYPED:
        return encode(value, operation)
    return check(value, type(value), operation)


def _check_class(value: Any, declared: Any, operation: str) -> None:
    if not isinstance(declared, type) or typing.is_typeddict(declared):
        return
    accepted = (int, float) if declared is float else declared
    try:
        fits = isinstance(value, accepted)
    except TypeError:  # a Protocol that is not checkable at run time
        return
    if fits and not (isinstance(value, bool) and declared in (int, float)):
        return
    if defined_again(type(value), declared) and _reads_the_same(value, declared):
        return
    name, got = name_of(declared), name_of(type(value))
    hint = ""
    if got == name:
        hint = ", an older or newer one of that name: run the cells again that use it"
    raise ValueMappingError(operation, f"{name} requires {name}, got {got}{hint}")


def _reads_the_same(value: Any, declared: type) -> bool:
    """A run that goes on while its cells are run again meets classes of before and of now."""
    try:
        return difference(value, decode(encode(value, "check"), declared)) is None
    except ValueMappingError:
        return False
