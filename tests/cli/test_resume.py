"""What a crash or a retry cost."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dexnb.cli.resume import overlap, resumed
from dexnb.flow.stream import StreamMessage
from tests.model.logs import HOSTILE, Log, polling


def messages(*sent: tuple[float, str], source: str = "#AwaitJob-1") -> list[StreamMessage]:
    """Give kept messages by time and value; the wall clock is 1000 s ahead of the log's time."""
    return [StreamMessage(value, "", 1000.0 + at, source) for at, value in sent]


def test_an_attempt_after_a_kill_tells_its_checkpoint_and_its_repeats() -> None:
    """The killed attempt has no end in the log: it was lost with its process."""
    log = polling().begun(107, 2, checkpoint='"QUEUED"')
    sent = messages((100.1, "QUEUED"), (102.1, "RUNNING"), (107.1, "RUNNING"), (109, "DONE"))
    (one,) = resumed(log.events, [sent])
    assert str(one).splitlines() == [
        "AwaitJob-1: attempt 1 was lost with its process",
        '  attempt 2 resumed from checkpoint "QUEUED" and repeated 1 Stream message',
    ]


def test_an_attempt_after_a_failure_tells_the_failure() -> None:
    """Each later attempt has its own line, from the end of the one right before it."""
    log = polling().failed(106).begun(107, 2, checkpoint='"RUNNING"').begun(150, 3)
    assert [str(one).splitlines() for one in resumed(log.events, [])] == [
        [
            "AwaitJob-1: attempt 1 failed: builtins.ValueError: boom",
            '  attempt 2 resumed from checkpoint "RUNNING" and repeated 0 Stream messages',
        ],
        [
            "AwaitJob-1: attempt 2 was lost with its process",
            "  attempt 3 resumed from no checkpoint and repeated 0 Stream messages",
        ],
    ]


def test_an_attempt_that_was_given_back_keeps_its_number() -> None:
    """An orderly stop costs no attempt, and is told all the same."""
    log = polling().add("attempt_ended", 106, "AwaitJob-1", 1, reason="handed_back").begun(120)
    (one,) = resumed(log.events, [])
    assert (one.attempt, one.why) == (1, "attempt 1 was handed back")


def test_execute_does_not_go_on_where_wait_for_has_ended() -> None:
    """Each of the two methods has attempts of its own; one that was lost or given up is told so."""
    log = Log().scheduled(100).begun(100, method="wait_for").failed(101)
    log.begun(102, 2, method="wait_for").add("attempt_ended", 103, "AwaitJob-1", 2, decision="wait")
    log.begun(104, method="execute").begun(110, 2, method="execute")
    assert [str(one).splitlines() for one in resumed(log.events, [])] == [
        [
            "AwaitJob-1: wait_for attempt 1 failed: builtins.ValueError: boom",
            "  wait_for attempt 2 resumed from no checkpoint and repeated 0 Stream messages",
        ],
        [
            "AwaitJob-1: attempt 1 was lost with its process",
            "  attempt 2 resumed from no checkpoint and repeated 0 Stream messages",
        ],
    ]
    given_up = Log().scheduled(100).begun(100, method="wait_for").failed(101).begun(102)
    assert resumed(given_up.events, []) == []


def test_messages_of_other_steps_are_no_repeats() -> None:
    """Each execution is compared with itself."""
    log = polling().begun(107, 2)
    others = messages((100, "a"), (108, "a"), source="#Other-1")
    assert [one.repeated for one in resumed(log.events, [others])] == [0]


def test_an_undisturbed_run_has_nothing_to_tell() -> None:
    """One attempt for each Step."""
    assert resumed(polling().completed(106).closed(106).events, []) == []


def test_a_checkpoint_from_outside_is_printable() -> None:
    """It is the value of a user's heartbeat."""
    (one,) = resumed(polling().begun(107, 2, checkpoint=HOSTILE).events, [])
    assert all(line.isprintable() for line in str(one).split("\n"))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", "", 0),
        ("AB", "C", 0),
        ("AB", "BC", 1),
        ("AB", "ABC", 2),
        ("ABAB", "ABC", 2),
        ("AB", "A", 0),
    ],
)
def test_repeats_are_the_beginning_that_ended_what_was_sent(
    before: Sequence[str], after: Sequence[str], expected: int
) -> None:
    """A state that comes back later is news and no repeat."""
    assert overlap(before, after) == expected
