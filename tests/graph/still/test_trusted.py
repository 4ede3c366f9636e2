"""What a text names is asked of the allow-lists, and not kept for good."""

from __future__ import annotations

import gc
import sys

import pytest

from dexnb.graph.opaque import opaque_class
from dexnb.graph.still.trusted import trusted_module


@pytest.mark.parametrize(("home", "kept"), [("nowhere", 0), ("asyncio", 512)])
def test_names_of_texts_are_not_kept_for_good(home: str, kept: int) -> None:
    """None of those that no list allows, and not many of the others."""
    names = [f"{home}.part{number}" for number in range(600)]
    before = list(map(sys.getrefcount, names))
    assert not any(map(trusted_module, names))
    gc.collect()
    after = map(sys.getrefcount, names)
    assert sum(now > then for now, then in zip(after, before, strict=True)) <= kept


def test_a_class_that_is_not_known_is_the_same_as_long_as_anything_has_it() -> None:
    """However many others a text names."""
    held = opaque_class("nowhere.Held")
    for number in range(2000):
        opaque_class(f"nowhere.Other{number}")
    assert opaque_class("nowhere.Held") is held
