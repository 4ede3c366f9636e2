"""What holds for the whole suite: missing servers, browsers and kernels, property tests."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Iterator, Sequence

import pytest
from hypothesis import settings

from dexnb.engine import capture

# Beside other workers on two cores, how long one example takes says nothing about the code.
settings.register_profile("shared-machine", settings(), deadline=None)
settings.load_profile("shared-machine")

EXTERNAL = frozenset({"postgres", "redis", "temporal", "ipykernel6"})
BROWSER = "browser"


def required() -> frozenset[str]:
    """Give the names in DEXNB_REQUIRE: what may not be missing on this machine."""
    return frozenset(filter(None, os.environ.get("DEXNB_REQUIRE", "").replace(" ", "").split(",")))


def needed(item: pytest.Item) -> frozenset[str]:
    """Give what a test needs beside Python, from its marks."""
    external = {name for mark in item.iter_markers("external") for name in mark.args}
    return frozenset(external | ({BROWSER} if item.get_closest_marker("ui") else set()))


@pytest.fixture
def caplog(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """Hold what this test logs alone: what earlier ones left behind complains before it begins."""
    gc.collect()
    caplog.clear()
    return caplog


@pytest.fixture(autouse=True)
def no_engine_left() -> Iterator[None]:
    """Name the test that leaves an engine open: later ones would share its standard streams."""
    before = set(capture._users)  # noqa: SLF001 - nothing but this test asks who captures
    yield
    assert set(capture._users) <= before, "an engine was left open"  # noqa: SLF001


def pytest_configure() -> None:
    """Refuse a misspelt name, which would require nothing."""
    unknown = required() - EXTERNAL - {BROWSER}
    if unknown:
        known = ", ".join(sorted(EXTERNAL | {BROWSER}))
        message = f"DEXNB_REQUIRE names {', '.join(sorted(unknown))}; known are {known}"
        raise pytest.UsageError(message)


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Refuse a mark without a known name, whose skip DEXNB_REQUIRE could not see."""
    for item in items:
        for mark in item.iter_markers("external"):
            if not mark.args or not EXTERNAL.issuperset(mark.args):
                message = f"{item.nodeid}: external() takes names from {sorted(EXTERNAL)}"
                raise pytest.UsageError(message)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn the skip of a test whose need is required into a failure."""
    report = yield
    missing = needed(item) & required()
    if report.skipped and missing and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"required by DEXNB_REQUIRE: {sorted(missing)}; {report.longrepr}"
    return report
