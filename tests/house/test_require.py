"""A missing server is a skip for a user and an error where DEXNB_REQUIRE names it."""

from __future__ import annotations

import pytest

from tests.house.tree import ROOT

NEEDY = """
import pytest

@pytest.mark.external("redis")
def test_server():
    pytest.skip("no server here")

@pytest.mark.ui
def test_page():
    pytest.skip("no browser here")
"""


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    """A small suite under the conftest of this one."""
    pytester.makeconftest((ROOT / "tests/conftest.py").read_text("utf-8"))
    pytester.makeini("[pytest]\nmarkers =\n    external(name): a server\n    ui: a browser")
    pytester.makepyfile(NEEDY)
    return pytester


@pytest.mark.parametrize(
    ("names", "skipped", "failed"), [("", 2, 0), ("redis", 1, 1), ("redis, browser", 0, 2)]
)
def test_a_required_need_may_not_be_skipped(
    suite: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    names: str,
    skipped: int,
    failed: int,
) -> None:
    """Only the tests whose need is named fail by their skip."""
    monkeypatch.setenv("DEXNB_REQUIRE", names)
    suite.runpytest_inprocess("-p", "no:randomly").assert_outcomes(skipped=skipped, failed=failed)


def test_a_misspelt_requirement_is_refused(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that nothing needs would require nothing."""
    monkeypatch.setenv("DEXNB_REQUIRE", "postgers")
    result = suite.runpytest_inprocess("-p", "no:randomly")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    known = "browser, ipykernel6, postgres, redis, temporal"
    result.stderr.fnmatch_lines(f"*names postgers; known are {known}*")


def test_a_mark_without_a_known_name_is_refused(suite: pytest.Pytester) -> None:
    """A need that cannot be named could be skipped unseen."""
    suite.makepyfile('import pytest\n\n@pytest.mark.external\ndef test_it():\n    """Ask."""')
    result = suite.runpytest_inprocess("-p", "no:randomly")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
