"""Time is an argument: outside dexnb/clock nothing reads a clock or sleeps in a thread."""

from __future__ import annotations

import pytest

from tests.house.tree import files, references, shown

CLOCKS = frozenset(
    {
        "time.time",
        "time.time_ns",
        "time.sleep",
        "time.monotonic",
        "time.monotonic_ns",
        "time.perf_counter",
        "time.perf_counter_ns",
        "time.*",
        "datetime.datetime.now",
        "datetime.datetime.utcnow",
        "datetime.datetime.today",
        "datetime.date.today",
    }
)


def clocks(source: str) -> list[tuple[int, str]]:
    """Give line and name of each clock that a module refers to, called or handed on."""
    return [(line, name) for line, name in references(source) if name in CLOCKS]


def test_no_module_outside_clock_knows_a_clock() -> None:
    """Every module takes time from the running loop or from dexnb.clock."""
    found = [
        f"{shown(path, line)} {name}"
        for path in files(".py", under="dexnb/")
        if path.relative_to(path.parents[1]).parts[0] != "clock"
        for line, name in clocks(path.read_text("utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("import time\nt = time.time()", "time.time"),
        ("import time as t\nt.sleep(1)", "time.sleep"),
        ("import time\nfield(default_factory=time.monotonic)", "time.monotonic"),
        ("def f():\n    from time import monotonic as now", "time.monotonic"),
        ("from time import *\nsleep(1)", "time.*"),
        ("import datetime as d\nd.datetime.now(d.UTC)", "datetime.datetime.now"),
        ("from datetime import datetime\ndatetime.now()", "datetime.datetime.now"),
        ("from datetime import date\ndate.today()", "datetime.date.today"),
    ],
)
def test_a_clock_is_found_under_any_name(source: str, name: str) -> None:
    """Neither an alias, an inner import nor a mere reference hides a clock."""
    assert {found for _, found in clocks(source)} == {name}


@pytest.mark.parametrize(
    "source",
    [
        "import asyncio\nasyncio.get_running_loop().time()",
        "from datetime import timedelta\ntimedelta(seconds=1)",
        "from datetime import datetime\ndatetime.fromisoformat(text)",
        "from dexnb.clock import Clock\nClock().time()",
        "self.time.sleep(1)",
    ],
)
def test_the_time_of_a_loop_is_no_clock(source: str) -> None:
    """What takes time as an argument passes."""
    assert clocks(source) == []
