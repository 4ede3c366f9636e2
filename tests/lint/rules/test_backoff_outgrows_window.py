"""Intervals that grow, worked out round by round."""

from __future__ import annotations

import pytest

from tests.lint.texts import poll, said

GROWS = [
    ({"before": "d = 1", "sleep": "d", "behind": "d = d * 2"}, "round 7: interval 64 s"),
    ({"before": "d = 1", "sleep": "d", "behind": "d = min(d * 2, 50)"}, "round 7: interval 50 s"),
    ({"before": "d = 1.0", "sleep": "d", "behind": "d *= 1.5"}, "round 11: interval 57.665 s"),
    ({"before": "d = 0", "sleep": "d", "behind": "d += 15"}, "round 4: interval 45 s"),
    ({"before": "n = 0", "sleep": "2 ** n", "behind": "n += 1"}, "round 7: interval 64 s"),
    ({"loop": "for n in itertools.count()", "sleep": "2 ** n"}, "round 7: interval 64 s"),
    ({"loop": "for n in range(3, 9)", "sleep": "10 * n"}, "round 3: interval 50 s"),
    ({"before": "d = timedelta(seconds=9)", "sleep": "d.total_seconds()", "behind": "d *= 2"}, "4"),
    (
        {"before": "d = 30", "sleep": "d + random.uniform(0, d / 10)", "behind": "d += 5"},
        "round 3: interval 44 s",
    ),
    (
        {
            "before": "d = 1",
            "sleep": "d",
            "behind": "d = longer(d)",
            "helpers": "def longer(now):\n    return min(now * 3, CAP)\n",
        },
        "round 5: interval 81 s",
    ),
    (
        {"before": "a, b = 1, 1", "sleep": "a", "behind": "a, b = b, a + b"},
        "round 10: interval 55 s",
    ),
    (
        {"attributes": "d = 8", "sleep": "self.d", "behind": "self.d = self.d * 2"},
        "round 4: interval 64 s",
    ),
    (
        {
            "before": "d = 1",
            "sleep": "d",
            "behind": "d = 1 if job.new else d * 2\n            d = d",
        },
        "",
    ),
]


@pytest.mark.parametrize(("parts", "text"), GROWS)
def test_the_round_is_named_in_which_the_interval_is_too_long(
    parts: dict[str, str], text: str
) -> None:
    """Doubling, adding, powers, chance, helpers, attributes, two variables at once."""
    (found,) = said(poll("CAP = 300", **parts), {"DX201", "DX204"})
    assert found.code == "DX204"
    assert text in found.message
    assert (found.verdict == "found") is bool(text)


@pytest.mark.parametrize(
    "parts",
    [
        {"before": "d = 1", "sleep": "d", "behind": "d = min(d * 2, 40)"},
        {"before": "d = 40", "sleep": "d", "behind": "d = max(d / 2, 1)"},
        {"loop": "for n in range(6)", "sleep": "2 ** n"},
        {"loop": "for n in range(20)", "sleep": "5"},
        {"before": "d = 1", "sleep": "min(d, 40)", "behind": "d *= 10"},
        {
            "before": "d = 1",
            "sleep": "d",
            "behind": "d *= 2",
            "options": "execute_method_timeout=timedelta(seconds=60)",
        },
        {"before": "seen = 0", "sleep": "5", "behind": "seen += 1"},
    ],
)
def test_an_interval_that_stays_within_the_window_is_fine(parts: dict[str, str]) -> None:
    """By a cap, by few rounds, by the end of the attempt; or because it does not grow."""
    assert said(poll(**parts), {"DX201", "DX204"}) == []


@pytest.mark.parametrize(
    "parts",
    [
        {"before": "d = float(input)", "sleep": "d", "behind": "d *= 2"},
        {"before": "d = 1", "sleep": "d", "behind": "d = min(d * job.factor, 300)"},
        {"before": "d = 1", "sleep": "d", "behind": "d = job.next(d)"},
    ],
)
def test_growth_that_cannot_be_worked_out_cannot_be_told(parts: dict[str, str]) -> None:
    """The hint names the cap that would do."""
    (found,) = said(poll(**parts), {"DX201", "DX204"})
    assert (found.code, found.verdict, found.hint) == ("DX204", "cannot tell", "cap it at 40 s")


def test_a_first_interval_that_is_too_long_is_a_matter_of_the_window_rule() -> None:
    """One place, one finding."""
    parts = {"before": "d = 41", "sleep": "d", "behind": "d *= 2"}
    (found,) = said(poll(**parts), {"DX201", "DX204"})
    assert (found.code, found.verdict) == ("DX201", "found")


def test_variables_that_are_all_made_of_each_other_do_not_stall_the_linter() -> None:
    """Followed to the end there would be more ways than anybody could walk."""
    tangle = "; ".join(f"{name} = a + b + c" for name in "abcabc")
    parts = {"before": f"a = b = c = 1; {tangle}; d = a", "sleep": "d", "behind": "d = d + a"}
    (found,) = said(poll(**parts), {"DX204"})
    assert found.verdict == "cannot tell"
