"""How often Python looks for garbage while engines run."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator

import pytest

from dexnb.engine import Runtime, collector
from dexnb.engine.collector import CALM, DEFAULTS
from dexnb.providers import MemoryProvider
from tests.engine.flows import virtual

PYTHONS = (700, 10, 10)


@pytest.fixture(autouse=True)
def thresholds() -> Iterator[None]:
    """Begin with Python's own, and give back what was there."""
    before = gc.get_threshold()
    gc.set_threshold(*PYTHONS)
    yield
    gc.enable()
    gc.set_threshold(*before)


@virtual
async def test_an_engine_looks_less_often_and_gives_back_what_was_there() -> None:
    """From the start to the stop, and not a moment longer."""
    async with Runtime(MemoryProvider()):
        assert gc.get_threshold() == CALM
    assert gc.get_threshold() == PYTHONS


@virtual
async def test_the_last_of_several_engines_gives_it_back() -> None:
    """They share one process, and so one setting."""
    first, second = Runtime(MemoryProvider()), Runtime(MemoryProvider())
    async with second:
        async with first:
            assert gc.get_threshold() == CALM
        assert gc.get_threshold() == CALM
        await first.close()
        assert gc.get_threshold() == CALM
    assert gc.get_threshold() == PYTHONS


@pytest.mark.parametrize("own", [(701, 10, 10), (50_000, 5, 5), (0, 0, 0)])
def test_thresholds_of_the_programs_own_stand(own: tuple[int, int, int]) -> None:
    """Whoever has set them has decided."""
    gc.set_threshold(*own)
    collector.install("engine")
    assert gc.get_threshold()[0] == own[0]
    collector.uninstall("engine")
    assert gc.get_threshold()[0] == own[0]


def test_a_collector_that_is_off_stays_as_it_is() -> None:
    """Its thresholds are nobody's business then."""
    gc.disable()
    collector.install("engine")
    assert gc.get_threshold() == PYTHONS
    collector.uninstall("engine")
    assert not gc.isenabled()


def test_what_was_set_while_an_engine_ran_stands_behind_it() -> None:
    """The newest word is the program's."""
    collector.install("engine")
    gc.set_threshold(5000, 7, 7)
    collector.uninstall("engine")
    assert gc.get_threshold()[0] == 5000


def test_what_python_has_by_itself_is_known() -> None:
    """Of this version, in a process that has changed nothing."""
    code = "import gc; print(gc.get_threshold())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() in {str(each) for each in DEFAULTS}
