"""What a text names is asked of the allow-lists, and not kept for good."""

from __future__ import annotations

import sys

from dexnb.graph.opaque import opaque_class
from dexnb.graph.still.trusted import trusted_module


def test_names_that_no_list_allows_are_not_kept() -> None:
    """A linter that runs for days reads very many."""
    names = [f"nowhere.part{number}" for number in range(600)]
    before = list(map(sys.getrefcount, names))
    assert not any(map(trusted_module, names))
    after = map(sys.getrefcount, names)
    assert list(after) == before


def test_a_class_that_is_not_known_is_the_same_as_long_as_anything_has_it() -> None:
    """However many others a text names."""
    held = opaque_class("nowhere.Held")
    for number in range(2000):
        opaque_class(f"nowhere.Other{number}")
    assert opaque_class("nowhere.Held") is held
