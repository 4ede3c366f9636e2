"""Public means promised: a name in `__all__` is there, is told about, and comes with a star."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import dexnb
from tests.house.tree import ROOT

NAMES: list[str] = list(getattr(dexnb, "__all__", ()))


def own_docstring(thing: object) -> str | None:
    """Give what its author wrote about a class or function, not what Python made up."""
    doc = vars(thing).get("__doc__") if isinstance(thing, type) else inspect.getdoc(thing)
    if isinstance(thing, type) and doc and doc.startswith(f"{thing.__name__}("):
        return None  # a dataclass without one gets its signature
    return doc


def order(name: str) -> tuple[bool, bool, str]:
    """Give the place in `__all__` as ruff sorts it: constants, classes, the rest."""
    return not name.isupper(), not name[0].isupper(), name


def test_all_is_sorted_and_names_each_thing_once() -> None:
    """A reader finds a name where the alphabet has it."""
    assert NAMES
    assert sorted(set(NAMES), key=order) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_resolves(name: str) -> None:
    """Each name is there, lazily loaded ones too, and dir() shows it."""
    getattr(dexnb, name)
    assert name in dir(dexnb)


def test_a_part_that_is_named_in_the_pages_needs_no_import_of_its_own() -> None:
    """`import dexnb as dex` gives `dex.jobs`, and loads it then."""
    parts = ("clock", "errors", "jobs", "providers", "testing")
    code = (
        "import sys, dexnb as dex\n"
        f"for name in {parts}:\n"
        "    shown, loaded = name in dir(dex), f'dexnb.{name}' in sys.modules\n"
        "    print(name, shown, loaded, getattr(dex, name).__name__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    told = [line.split() for line in done.stdout.splitlines()]
    assert [(name, shown, home) for name, shown, _, home in told] == [
        (name, "True", f"dexnb.{name}") for name in parts
    ]
    assert told[2][2] == "False"


@pytest.mark.parametrize("name", NAMES)
def test_a_public_class_or_function_says_what_it_is_for(name: str) -> None:
    """Each has a docstring of its own; a constant is told about beside the classes it serves."""
    thing = getattr(dexnb, name)
    if inspect.isclass(thing) or inspect.isroutine(thing):
        assert own_docstring(thing)


def test_a_star_import_gives_exactly_all() -> None:
    """No more, so that a flow file's own names are safe, and no less."""
    code = (
        "before = set(globals())\nfrom dexnb import *\nprint(*set(globals()) - before - {'before'})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == set(NAMES)


def test_a_missing_docstring_is_seen() -> None:
    """A class does not pass with its parent's docstring, nor a dataclass with its signature."""
    bare = type("Bare", (Exception,), {})
    signed = type("Signed", (), {"__doc__": "Signed(x: int)"})
    told = type("Told", (), {"__doc__": "Tell."})
    assert [bool(own_docstring(thing)) for thing in (bare, signed, told)] == [False, False, True]
