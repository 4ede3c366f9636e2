"""Texts from outside and lengths of time, as a terminal may show them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dexnb.cli.text import duration, limit, message, printable
from tests.model.logs import HOSTILE


@given(st.text(st.characters(), max_size=400), st.integers(min_value=1, max_value=300))
def test_whatever_the_text_it_becomes_one_printable_line(text: str, longest: int) -> None:
    """No control character, no line end, no surrogate, and no more than asked for."""
    shown = printable(text, longest)
    assert shown.isprintable()
    assert len(shown) <= longest
    shown.encode("utf-8")


def test_ordinary_text_is_left_alone() -> None:
    """Letters of every script, markup and quotes are text."""
    for text in ("", "RUNNING", "żółw 猫 🐢", "[red]x[/red]", 'say "no"'):
        assert printable(text) == text


def test_a_hostile_text_shows_what_it_tried() -> None:
    """Escapes stand there as escapes."""
    shown = printable(HOSTILE, 60)
    assert shown.startswith(r"\x1b[2J[bold red]x[/bold red]\r\n\u202e\ud800yyy")
    assert shown.endswith("…")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('{"job_id":"a","state":"QUEUED","result":null,"error":null}', "job_id=a state=QUEUED"),
        ('"half done"', "half done"),
        ("3.5", "3.5"),
        ("null", "null"),
        ("{}", "{}"),
        ('{"n":{"deep":[1,2]}}', 'n={"deep":[1,2]}'),
        ('["a"]', '["a"]'),
        ('"a\\u001b[0mb"', r"a\x1b[0mb"),
        ("no json", "no json"),
    ],
)
def test_a_message_reads_as_people_write_it(value: str, expected: str) -> None:
    """Objects without nulls, strings without quotes."""
    assert message(value) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (-1, "0.0 s"),
        (0, "0.0 s"),
        (9.96, "10.0 s"),
        (59.94, "59.9 s"),
        (59.96, "1 min 00 s"),
        (65, "1 min 05 s"),
        (3599.6, "1 h 00 min"),
        (7260, "2 h 01 min"),
        (90000, "1 d 01 h"),
    ],
)
def test_a_duration_has_its_two_largest_units(seconds: float, expected: str) -> None:
    """And never sixty of the smaller one."""
    assert duration(seconds) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0.5, "0.5 s"), (10, "10 s"), (60, "1 min"), (90, "1 min 30 s"), (7200, "2 h")],
)
def test_a_limit_leaves_out_what_is_zero(seconds: float, expected: str) -> None:
    """`1 min`, as it was written."""
    assert limit(seconds) == expected
