"""Pages are told in batches, whole when that is needed, bounded, and not at all for nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dexnb.errors import DefinitionError, RuntimeClosed
from dexnb.widgets import publisher as publishing
from dexnb.widgets.publisher import BATCH_SECONDS, IDLE_SECONDS, Publisher
from tests.widgets.pages import FakeFeed, FakeWidget, event


class Stage:
    """A publisher whose thread is the test, on a clock that the test turns."""

    def __init__(self) -> None:
        """Start at time 100."""
        self.time = 100.0
        self.feed = FakeFeed()
        self.widget = FakeWidget()
        self.publisher = Publisher(self.widget, self.feed)

    def step(self, after: float = BATCH_SECONDS) -> float | None:
        """Let time pass and do what is due."""
        self.time += after
        return self.publisher.step()

    def viewed(self) -> Stage:
        """Mount a view, and forget what it was told."""
        self.publisher.receive({"kind": "ready"})
        self.step()
        self.widget.sent.clear()
        return self


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """The stage."""
    made = Stage()
    monkeypatch.setattr(publishing, "monotonic", lambda: made.time)
    yield made
    made.publisher.close()
    assert made.publisher.step() is None


def beat(number: int) -> Any:
    """Make an event."""
    return event(number, "heartbeat", number / 10, checkpoint="1", cleared=False)


def test_nobody_is_told_before_a_view_is_mounted(stage: Stage) -> None:
    """Messages that no page takes are not sent, and the feed is looked at seldom."""
    stage.feed.put(beat(2))
    assert stage.step() == IDLE_SECONDS
    assert stage.widget.sent == []


@pytest.mark.parametrize("kind", ["ready", "resync"])
def test_a_view_that_asks_gets_a_whole_page(stage: Stage, kind: str) -> None:
    """Mounted, or after a gap."""
    stage.publisher.receive({"kind": kind})
    assert stage.step() == BATCH_SECONDS
    (sent,) = stage.widget.sent
    assert (sent["kind"], sent["seq"], sent["page"]["title"]) == ("snapshot", 1, "Flow")


def test_nothing_is_sent_when_nothing_changed(stage: Stage) -> None:
    """However long it takes."""
    stage.viewed()
    for _ in range(100):
        stage.step()
    assert stage.widget.sent == []


def test_changes_go_out_in_batches_with_growing_numbers(stage: Stage) -> None:
    """Each batch holds the events since the one before."""
    stage.viewed()
    for number in range(2, 6):
        stage.feed.put(beat(number))
        stage.step()
    assert stage.widget.kinds() == ["batch"] * 4
    assert [sent["seq"] for sent in stage.widget.sent] == [2, 3, 4, 5]
    assert [sent["events"][0]["seq"] for sent in stage.widget.sent] == [2, 3, 4, 5]


def test_a_whole_page_comes_every_second_while_anything_changes(stage: Stage) -> None:
    """A page that has lost something is right again soon, at 16 messages a second at most."""
    stage.viewed()
    for number in range(2, 82):
        stage.feed.put(beat(number))
        stage.step()
    assert len(stage.widget.sent) <= 81
    assert 4 <= stage.widget.kinds().count("snapshot") <= 5


def test_a_poke_does_not_make_it_faster(stage: Stage) -> None:
    """What comes early waits for its turn."""
    stage.viewed()
    stage.feed.put(beat(2))
    assert stage.step(0.01) == pytest.approx(BATCH_SECONDS - 0.01)
    assert stage.widget.sent == []
    stage.step()
    assert stage.widget.kinds() == ["batch"]


def test_the_end_is_told_whole_and_once(stage: Stage) -> None:
    """Pages see the last state, then the outputs are updated."""
    stage.viewed()
    stage.feed.put(beat(2), running=False)
    assert stage.step() == IDLE_SECONDS
    stage.step(IDLE_SECONDS)
    assert stage.widget.kinds() == ["snapshot"]
    assert stage.feed.ends == 1


def test_the_end_is_known_without_any_view(stage: Stage) -> None:
    """A headless notebook's outputs are updated, too."""
    stage.step()
    stage.feed.put(running=False)
    stage.step(IDLE_SECONDS)
    assert (stage.feed.ends, stage.widget.sent) == (1, [])


def test_a_run_that_began_and_ended_between_two_looks_is_told() -> None:
    """Though it was never seen running; one that had ended before is not news."""
    feed, widget = FakeFeed(), FakeWidget()
    feed.put(running=False)
    Publisher(widget, feed).step()
    assert feed.ends == 1
    feed.put(running=False)
    Publisher(widget, feed, closed="run").step()
    assert feed.ends == 1


def flood(stage: Stage, make: Callable[[int], Any]) -> None:
    """Let 2,000 events a second happen for ten seconds."""
    stage.viewed()
    for first in range(2, 20_002, 125):
        stage.feed.put(*(make(number) for number in range(first, first + 125)))
        stage.step()
    size = sum(len(json.dumps(sent, allow_nan=False)) for sent in stage.widget.sent)
    assert size / 10 < 200_000
    assert len(stage.widget.sent) / 10 < 20
    numbers = [sent["seq"] for sent in stage.widget.sent]
    assert numbers == list(range(2, len(numbers) + 2))


def test_a_flood_of_heartbeats_is_told_in_small_batches(stage: Stage) -> None:
    """2,000 a second: no more messages than for few, none large, and a page is never behind."""
    flood(stage, beat)
    kinds = stage.widget.kinds()
    assert len(kinds) == 160
    assert kinds.count("batch") >= 149


def test_a_flood_of_lines_becomes_whole_pages_within_the_byte_budget(stage: Stage) -> None:
    """What must be told one by one and is too much: under 200 kB a second, the last state right."""
    flood(stage, lambda number: event(number, "log", number / 10, source="stdout", line="x" * 99))
    assert "snapshot" in stage.widget.kinds()[-17:]
    assert stage.widget.kinds().count("batch") < 100


def test_what_a_whole_page_must_show_is_told_at_once(stage: Stage) -> None:
    """A turned knob, for example."""
    stage.viewed()
    stage.feed.put(whole=True)
    stage.step()
    assert stage.widget.kinds() == ["snapshot"]


def test_a_command_is_carried_out_once_and_answered_each_time(stage: Stage) -> None:
    """A page repeats what it has no answer to; the same id gets the same answer."""
    command = {"kind": "command", "id": "a", "name": "set_knob", "args": {"name": "X", "value": 1}}
    stage.publisher.receive(command)
    stage.publisher.receive(command)
    assert stage.feed.commands == [("set_knob", {"name": "X", "value": 1})]
    stage.feed.futures[0].set_result(1.0)
    stage.step()
    stage.publisher.receive(command)
    stage.step()
    replies = [sent for sent in stage.widget.sent if sent["kind"] == "reply"]
    expected = {"kind": "reply", "id": "a", "ok": True, "state": "done", "error": "", "result": 1.0}
    assert replies == [expected, expected]
    assert len(stage.feed.commands) == 1
    assert "snapshot" in stage.widget.kinds()


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (DefinitionError("X is 0: give more"), "X is 0: give more"),
        (KeyError("x"), "KeyError: 'x'"),
        (TimeoutError(), "TimeoutError"),
    ],
)
def test_a_refusal_is_answered_with_its_reason(stage: Stage, error: Exception, text: str) -> None:
    """Our own errors speak for themselves, others with their type."""
    stage.publisher.receive({"kind": "command", "id": "a", "name": "run", "args": None})
    stage.feed.futures[0].set_exception(error)
    stage.step()
    (reply,) = [sent for sent in stage.widget.sent if sent["kind"] == "reply"]
    assert (reply["ok"], reply["error"]) == (False, text)


@pytest.mark.parametrize(
    "content",
    [
        None,
        [],
        "ready",
        {},
        {"kind": "other"},
        {"kind": "command"},
        {"kind": "command", "id": 1, "name": "run"},
        {"kind": "command", "id": "x" * 101, "name": "run"},
    ],
)
def test_nonsense_from_a_page_is_left_alone(stage: Stage, content: Any) -> None:
    """No answer, no command, no error."""
    stage.publisher.receive(content)
    stage.step()
    assert stage.feed.commands == []
    assert "reply" not in stage.widget.kinds()


def test_a_closed_comm_and_a_closed_store_do_not_end_the_publisher(stage: Stage) -> None:
    """It goes on, and tells the whole when it can again."""
    stage.viewed()
    stage.widget.closed = True
    stage.feed.put(beat(2))
    stage.step()
    stage.widget.closed = False
    stage.feed.failure = RuntimeClosed("closed")
    assert stage.step() is not None
    assert "closed" in stage.publisher.error
    stage.feed.failure = None
    stage.feed.put(beat(3))
    stage.step(1.0)
    assert stage.widget.kinds() == ["snapshot"]
    assert stage.publisher.error == ""


class Comm:
    """A comm as ipykernel 7.4 has it."""

    def __init__(self) -> None:
        """Remember a thread."""
        self._reply_subshell_id: str | None = None


def test_the_kernels_note_of_a_thread_is_dropped_after_each_message() -> None:
    """What the page says then goes to the thread that the page asks for."""
    feed, widget = FakeFeed(), FakeWidget()
    widget.comm = Comm()
    publisher = Publisher(widget, feed)
    assert not hasattr(widget.comm, "_reply_subshell_id")
    publisher.receive({"kind": "ready"})
    widget.comm._reply_subshell_id = "thread"  # noqa: SLF001 - what the kernel does
    publisher.step()
    assert widget.kinds() == ["snapshot"]
    assert not hasattr(widget.comm, "_reply_subshell_id")
