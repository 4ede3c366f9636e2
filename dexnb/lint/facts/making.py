"""Which calls make an object, which waits for nobody, by their names."""

from __future__ import annotations

import re

from dexnb.lint.facts.origin import last_of
from dexnb.lint.facts.words import words

_VERBS = words("""
    Check Count Describe Exists Fetch Find Get Has Head Inquire Is List Lookup Peek Poll Query
    Read Retrieve Show Wait Watch
""")
_FIRST = re.compile(r"[A-Z][a-z]+(?=[A-Z])")


def is_making(origin: str) -> bool:
    """Tell the call of a class: what it makes may be foreign, making it asks nobody.

    Methods of gRPC, SOAP and COM clients are written like classes, `stub.GetJob()`: a method of an
    object that a class has made, or one whose name begins with a verb, is called for its answer.

    Args:
        origin: The dotted name of what is called.
    """
    name = last_of(origin).lstrip("_")
    if origin.endswith("()") or not name[:1].isupper():
        return False
    verb = _FIRST.match(name)
    if verb is not None and verb[0] in _VERBS:
        return False
    made, bracket, _ = origin.rpartition("()")
    return not (bracket and last_of(made).lstrip("_")[:1].isupper())
