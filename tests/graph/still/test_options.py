"""Options that a Step of a text gives: worked out, or said not to be known, never guessed."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dexnb.graph.still import FoundFlow
from tests.graph.still.texts import options_of

KNOWN = [
    (
        "return StepOptions(heartbeat_timeout=timedelta(seconds=20))",
        "",
        20,
    ),
    (
        "return StepOptions(None, timedelta(seconds=20))",
        "",
        20,
    ),
    (
        "return StepOptions(heartbeat_timeout=BEAT)",
        "BEAT = timedelta(seconds=4) * 5",
        20,
    ),
    (
        "return StepOptions(heartbeat_timeout=2 * BEAT)",
        "BEAT = timedelta(minutes=1) / 6",
        20,
    ),
    (
        "return StepOptions(heartbeat_timeout=beat(4))",
        "def beat(n): return timedelta(seconds=5 * n)",
        20,
    ),
    (
        "return StepOptions(**GIVEN)",
        "GIVEN = {'heartbeat_timeout': timedelta(seconds=20)}",
        20,
    ),
    (
        "return StepOptions(heartbeat_timeout=TIMES['s'])",
        "TIMES = {'s': timedelta(seconds=20)}",
        20,
    ),
    (
        "return StepOptions(heartbeat_timeout=Times.BEAT)",
        "class Times:\n    BEAT = timedelta(seconds=20)",
        20,
    ),
    (
        "return StepOptions(heartbeat_timeout=timedelta(seconds=Times.BEAT.value))",
        "class Times(Enum):\n    BEAT = 20",
        20,
    ),
    (
        "seconds = 20\nreturn StepOptions(heartbeat_timeout=timedelta(seconds=seconds))",
        "",
        20,
    ),
    (
        "if DEBUG:\n    return None\nreturn StepOptions(heartbeat_timeout=timedelta(seconds=20))",
        "DEBUG = False",
        20,
    ),
    (
        "return StepOptions(heartbeat_timeout=timedelta(seconds=20 if FAST else 60))",
        "FAST = True",
        20,
    ),
    (
        "return replace(OPTIONS, heartbeat_timeout=timedelta(seconds=20))",
        "from dataclasses import replace\nOPTIONS = StepOptions()",
        20,
    ),
    (
        "return StepOptions(heartbeat_timeout=max(A, timedelta(seconds=20)))",
        "A = timedelta(seconds=5)",
        20,
    ),
    (
        (
            "total = 0\n"
            "for each in (5, 15):\n"
            "    total += each\n"
            "return StepOptions(heartbeat_timeout=timedelta(seconds=total))"
        ),
        "",
        20,
    ),
]
HIDDEN = [
    (
        "return StepOptions(heartbeat_timeout=timedelta(seconds=N))",
        "from nowhere import N",
    ),
    (
        "return StepOptions(heartbeat_timeout=timedelta(seconds=int(os.environ['N'])))",
        "import os",
    ),
    (
        "return StepOptions(heartbeat_timeout=BEAT if asked() else BEAT * 2)",
        "BEAT = timedelta(seconds=9)\nfrom nowhere import asked",
    ),
    (
        "import random\nreturn StepOptions(heartbeat_timeout=timedelta(seconds=random.random()))",
        "",
    ),
    (
        "return StepOptions(heartbeat_timeout=self.beat)",
        "",
    ),
    (
        "if asked():\n    return StepOptions(heartbeat_timeout=timedelta(seconds=20))\nreturn None",
        "from nowhere import asked",
    ),
    (
        (
            "beat = timedelta(seconds=20)\n"
            "if asked():\n"
            "    beat *= 2\n"
            "return StepOptions(heartbeat_timeout=beat)"
        ),
        "from nowhere import asked",
    ),
    (
        (
            "beat = 1\n"
            "while asked():\n"
            "    beat += 1\n"
            "return StepOptions(heartbeat_timeout=timedelta(seconds=beat))"
        ),
        "from nowhere import asked",
    ),
    (
        (
            "beat = 1\n"
            "for each in (1, 2):\n"
            "    if asked():\n"
            "        break\n"
            "    beat += each\n"
            "return StepOptions(heartbeat_timeout=timedelta(seconds=beat))"
        ),
        "from nowhere import asked",
    ),
    (
        "return StepOptions(heartbeat_timeout=timedelta(seconds=sum(TIMES)))",
        "TIMES = [1]\nimport nowhere\nnowhere.change(TIMES)\nTIMES.insert(0, 2)",
    ),
]


def heartbeat(found: FoundFlow) -> float:
    """Give the heartbeat timeout in seconds that was made out."""
    return found.registered.steps["S"].settings.heartbeat_timeout


@pytest.mark.parametrize(("body", "more", "seconds"), KNOWN)
def test_an_option_is_worked_out(body: str, more: str, seconds: float) -> None:
    """From constants, tables, helpers and conditions that have one answer."""
    found = options_of(body, more)
    assert found.problems == ()
    assert heartbeat(found) == seconds


@pytest.mark.parametrize(("body", "more"), HIDDEN)
def test_an_option_that_only_running_tells_is_said_not_to_be_known(body: str, more: str) -> None:
    """With its name and place; its default stands in the graph, and a diagnostic beside it."""
    found = options_of(body, more)
    assert heartbeat(found) == DEFAULT
    fields = {(each.kind, each.step, each.field) for each in found.problems}
    assert ("cannot-tell", "S", "heartbeat_timeout") in fields
    assert all(each.place.line for each in found.problems)
    assert "unresolved_definition" in {each.code for each in found.graph.diagnostics}


DEFAULT = 60.0


def test_what_is_known_of_options_is_kept_beside_what_is_not() -> None:
    """Only the field that differs is not known."""
    found = options_of(
        "options = StepOptions(heartbeat_timeout=timedelta(seconds=20), "
        "execute_retry=RetryPolicy(maximum_attempts=N, total_duration=timedelta(minutes=9)))\n"
        "if N:\n    return options.on_execute_failure_proceed_to(End)\n"
        "return options",
        "from nowhere import N",
    )
    settings = found.registered.steps["S"].settings
    assert settings.heartbeat_timeout == 20
    assert settings.retry.total_duration == timedelta(minutes=9).total_seconds()
    assert {each.field for each in found.problems} == {"maximum_attempts", "recovery"}


@pytest.mark.parametrize("body", ["return 5", "return StepOptions(heartbeat_timeout=5)", "raise X"])
def test_options_that_a_registry_refuses_are_refused_here(body: str) -> None:
    """With the same words, at the method."""
    found = options_of(body)
    assert {each.kind for each in found.problems} == {"definition"}
    assert found.problems[0].message.startswith("F.S.")
    assert not found.graph.valid
