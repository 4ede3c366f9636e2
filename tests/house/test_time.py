"""Time is an argument: outside dexnb/clock nothing reads a clock or sleeps in a thread."""

from __future__ import annotations

import re

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


STORE_CLOCKS = re.compile(
    r"\b(now|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday|unixepoch|strftime"
    r"|julianday|datetime)\s*\(|\bcurrent_(time|date|timestamp)\b|\blocaltime(stamp)?\b"
    r"|['\"]time['\"]|os\.(time|clock|date)",
    re.IGNORECASE,
)
CONNECTS = {"providers/postgres/opening.sql": 1}
"""Where a server is asked what time it is, once: as the store's clock is made from it."""


def store_clocks(text: str) -> list[str]:
    """Give what a statement or script reads of a clock; comments do not count."""
    code = re.sub(r"--.*", "", text)
    return [found.group() for found in STORE_CLOCKS.finditer(code)]


def test_no_statement_or_script_reads_a_clock() -> None:
    """Leases of several machines agree because every time comes from the engine that asks."""
    found = {
        shown: len(clocks)
        for kind in (".sql", ".lua")
        for path in files(kind, under="dexnb/")
        for shown in ["/".join(path.parts[-3:])]
        if (clocks := store_clocks(path.read_text("utf-8")))
    }
    assert found == CONNECTS


@pytest.mark.parametrize(
    "text",
    [
        "SELECT now()",
        "DEFAULT CURRENT_TIMESTAMP",
        "redis.call('TIME')",
        "local t = os.time()",
        "UPDATE t SET x = unixepoch('now')",
    ],
)
def test_a_clock_in_a_statement_is_found(text: str) -> None:
    """Each store's own ways."""
    assert store_clocks(text)
