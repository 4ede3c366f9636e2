"""Telemetry: its budget, its chunks in the store, and one log out of both."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from dexnb import StepDecision, Stream, graceful_complete
from dexnb.engine import AsyncRun, Runtime
from dexnb.engine.telemetry import (
    CHUNK_BYTES,
    CHUNK_EVENTS,
    ENTRY_BYTES,
    FLUSH_EVENTS,
    Telemetry,
)
from dexnb.flow.context import AsyncContext
from dexnb.model.event import Event
from dexnb.model.json_text import from_text, to_text
from dexnb.providers import MemoryProvider, MemoryStore
from tests.engine.flows import fast, finished, flow, step, virtual, with_runtime

PROGRESS = Stream("Progress", str, 1 << 20)


class Time:
    """Store time that a test sets."""

    def __init__(self) -> None:
        """Start at a thousand seconds, with the wall a hundred ahead."""
        self.now = 1000.0
        self.wall = 100.0


@pytest.fixture
def time() -> Time:
    """Give a time to set."""
    return Time()


def made(time: Time, budget: int = 1 << 20, after: int = 0) -> Telemetry:
    """Make telemetry on that time."""
    return Telemetry(lambda: time.now, lambda: time.wall, budget, after)


def numbers(telemetry: Telemetry, run_id: str) -> list[int]:
    """Give what a run's entries hold."""
    return [event.payload["n"] for event in telemetry.events(run_id)]


def fill(telemetry: Telemetry, run_id: str, count: int, size: int = 0) -> None:
    """Record numbered entries."""
    for number in range(count):
        telemetry.record(run_id, "flow", "log", payload={"n": number}, size=size)


def test_the_budget_in_bytes_holds_and_the_oldest_goes_first(time: Time) -> None:
    """Over all runs together: what is left is what was recorded last."""
    telemetry = made(time, budget=10 * (ENTRY_BYTES + 50))
    fill(telemetry, "a", 6, size=50)
    fill(telemetry, "b", 6, size=50)

    assert telemetry.bytes <= 10 * (ENTRY_BYTES + 50)
    assert numbers(telemetry, "a") == [2, 3, 4, 5]
    assert numbers(telemetry, "b") == [0, 1, 2, 3, 4, 5]

    telemetry.record("c", "flow", "log", payload={"n": 0}, size=9 * (ENTRY_BYTES + 50))
    assert numbers(telemetry, "a") == numbers(telemetry, "b") == []
    assert telemetry.bytes <= 10 * (ENTRY_BYTES + 50)


def test_an_entry_larger_than_the_budget_is_not_kept(time: Time) -> None:
    """One huge text does not break the bound."""
    telemetry = made(time, budget=1000)
    telemetry.record("a", "flow", "log", payload={"n": 1}, size=5000)
    assert telemetry.bytes == 0
    assert telemetry.events("a") == []


def test_seq_grows_within_a_run_and_over_dropped_logs(time: Time) -> None:
    """A run that comes back after all of it was dropped counts on."""
    telemetry = made(time, budget=2 * ENTRY_BYTES)
    fill(telemetry, "a", 2)
    last = telemetry.events("a")[-1].seq
    fill(telemetry, "b", 2)
    assert telemetry.events("a") == []
    fill(telemetry, "a", 1)
    assert telemetry.events("a")[0].seq > last


def test_seq_grows_over_engines_whatever_the_clock_says(time: Time) -> None:
    """A later engine counts on from store time, or from what it found in the store."""
    first = made(time)
    fill(first, "a", 100)
    last = first.events("a")[-1].seq
    time.now += 0.001
    later = made(time)
    fill(later, "a", 1)
    assert later.events("a")[0].seq > last
    time.now -= 0.001
    at_once = made(time, after=last)
    fill(at_once, "a", 1)
    assert at_once.events("a")[0].seq > last


def test_chunks_are_cut_by_count_and_by_bytes(time: Time) -> None:
    """No chunk is so large that it would push out a run's other chunks; none overlaps."""
    telemetry = made(time)
    fill(telemetry, "a", CHUNK_EVENTS * 2 + 1)
    for _ in range(10):
        telemetry.record("b", "flow", "log", payload={"text": "x" * (CHUNK_BYTES // 3)})
    chunks = telemetry.take_chunks()

    sizes = [len(chunk.text.split("\n")) for chunk in chunks]
    assert sizes == [CHUNK_EVENTS, CHUNK_EVENTS, 1, 2, 2, 2, 2, 2]
    for chunk in chunks:
        seqs = [from_text(line)["seq"] for line in chunk.text.split("\n")]
        assert seqs == list(range(chunk.first_seq, chunk.last_seq + 1))
    assert not telemetry.dirty
    assert telemetry.take_chunks() == []


def test_one_flush_takes_a_bounded_part_and_the_rest_later(time: Time) -> None:
    """However much has gathered for one run, encoding never holds up the engine for long."""
    telemetry = made(time, budget=1 << 30)
    fill(telemetry, "a", FLUSH_EVENTS * 2 + 5)
    taken = []
    while telemetry.dirty:
        lines = [line for chunk in telemetry.take_chunks() for line in chunk.text.split("\n")]
        taken.append([from_text(line)["payload"]["n"] for line in lines])
    assert [len(part) for part in taken] == [FLUSH_EVENTS, FLUSH_EVENTS, 5]
    assert [n for part in taken for n in part] == list(range(FLUSH_EVENTS * 2 + 5))


def test_entries_of_the_engine_itself_stay_in_memory(time: Time) -> None:
    """They belong to no run, and a flush is soon done with them."""
    telemetry = made(time)
    fill(telemetry, "", 10)
    assert telemetry.take_chunks() == []
    assert not telemetry.dirty
    assert numbers(telemetry, "") == list(range(10))


def test_a_stepped_wall_clock_changes_only_later_stamps(time: Time) -> None:
    """What was stamped keeps its stamp, in memory as in the store."""
    telemetry = made(time)
    fill(telemetry, "a", 1)
    time.wall += 3600
    telemetry.look_at_wall_clock()
    fill(telemetry, "a", 1)
    first, second = telemetry.events("a")
    assert (first.wall, second.wall) == (1100.0, 4700.0)
    assert first.time == second.time == 1000.0


def test_recording_from_many_threads_loses_nothing(time: Time) -> None:
    """Steps of all kinds record at the same time."""
    telemetry = made(time)
    threads = [threading.Thread(target=fill, args=(telemetry, "a", 500)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    events = telemetry.events("a")
    assert [event.seq for event in events] == list(range(events[0].seq, events[0].seq + 2000))


async def beats(context: AsyncContext, input: Any) -> StepDecision:
    """Beat each second for a minute."""
    for number in range(60):
        await context.heartbeat(number)
        await asyncio.sleep(1)
    return graceful_complete()


def shown(events: list[Event]) -> list[int]:
    """Give the checkpoints of beats, in order."""
    return [int(event.payload["checkpoint"]) for event in events if event.kind == "heartbeat"]


async def whole_log(run: AsyncRun) -> list[Event]:
    """Give a run's telemetry; its numbers must grow without a repetition."""
    log = [event for event in await run.events() if not event.durable]
    seqs = [event.seq for event in log]
    assert seqs == sorted(set(seqs))
    return log


@virtual
async def test_events_come_from_memory_and_store_without_duplicates_or_gaps() -> None:
    """Three engines one after the other, one of them at the very same instant."""
    store = MemoryStore()
    for pause in (20.5, 20.0, 0.0, 3.25):
        async with Runtime(MemoryProvider(store)) as runtime:
            run = await runtime.start(flow(beats), "flow")
            await asyncio.sleep(pause)
    async with Runtime(MemoryProvider(store)) as runtime:
        run = await runtime.start(flow(beats), "flow")
        await finished(run)
        log = await whole_log(run)
    expected = [*range(21), *range(20), 0, *range(4), *range(60)]
    assert shown(log)[:41] == expected[:41]
    assert shown(log)[-64:] == expected[-64:]
    assert [event.kind for event in log].count("attempt_started") in (4, 5)


@pytest.mark.parametrize("budget", [2_000, 10_000, 50_000])
@virtual
async def test_events_are_whole_when_memory_has_dropped_the_older_ones(budget: int) -> None:
    """What was written to the store in time is read back from there."""
    async with Runtime(MemoryProvider(), options=fast(telemetry_bytes=budget)) as runtime:
        run = await runtime.start(flow(beats), "flow")
        for _ in range(60):
            await asyncio.sleep(1)
            await runtime.engine.upkeep.flush()
        await finished(run)
        assert shown(await whole_log(run)) == list(range(60))
        assert runtime.engine.telemetry.bytes <= budget


@virtual
async def test_everything_is_written_at_the_stop() -> None:
    """A stopped engine leaves the whole log behind, and so does a closed run."""
    store = MemoryStore()
    async with Runtime(MemoryProvider(store)) as runtime:
        run = await runtime.start(flow(beats), "flow")
        await asyncio.sleep(10.5)
        before = await run.events()
    async with Runtime(MemoryProvider(store)) as runtime:
        run = await runtime.get("flow")
        after = await run.events()
        assert [event.to_json() for event in after[: len(before)]] == [
            event.to_json() for event in before
        ]
        assert after[-1].payload == {"reason": "handed_back"}


async def until(condition: Callable[[], bool], seconds: float) -> bool:
    """Wait for a condition in real time, looking often."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while not condition() and loop.time() < end:
        await asyncio.sleep(0.02)
    return condition()


@pytest.mark.timing
def test_chunks_reach_the_store_within_a_second() -> None:
    """On the real clock a crash loses a second of telemetry at most."""

    async def main() -> None:
        store = MemoryStore()
        async with Runtime(MemoryProvider(store)) as runtime:
            run = await runtime.start(flow(beats), "flow")
            assert await until(lambda: bool(store.telemetry.read(run.run_id)), 1.5)
            (chunk, *_) = store.telemetry.read(run.run_id)
            assert "attempt_started" in chunk.text

    asyncio.run(main())


@with_runtime
async def test_a_huge_checkpoint_or_message_is_cut_in_the_log_alone(runtime: Runtime) -> None:
    """The log stays small; the values themselves are whole."""
    found: list[Any] = []

    async def heavy(context: AsyncContext, input: Any) -> StepDecision:
        if context.attempt == 2:
            found.append(context.get_last_heartbeat_value(str))
            return graceful_complete()
        PROGRESS.write(context, "m" * 90_000)
        await context.heartbeat("c" * 900_000)
        raise ValueError

    run = await runtime.start(flow(step(heavy), streams=[PROGRESS]), "flow")
    await finished(run)
    assert found == ["c" * 900_000]
    assert [len(message.value) for message in await run.stream(PROGRESS)] == [90_000]
    assert runtime.engine.telemetry.bytes < 60_000


def test_what_is_stored_is_written_as_events_are() -> None:
    """Letter by letter, whatever the names and the payload hold."""
    telemetry = Telemetry(lambda: 1e9 + 0.1, lambda: 0.25, 1_000_000)
    odd = 'naïve "\\ \x00\u2028'
    telemetry.record(odd, odd, "log", odd, 3, {"line": odd, "more": [1, 0.1, None]}, 5)
    telemetry.record(odd, odd, "round_call")
    (chunk,) = telemetry.take_chunks()
    events = telemetry.events(odd)
    assert chunk.text == "\n".join(to_text(event.to_json()) for event in events)
    assert (chunk.first_seq, chunk.last_seq) == (events[0].seq, events[1].seq)


def test_a_long_log_loses_its_oldest_entries_and_keeps_its_numbers() -> None:
    """Each entry has the number that it had from the start."""
    telemetry = Telemetry(lambda: 1.0, lambda: 0.0, 200 * 1500)
    for number in range(5000):
        telemetry.record("run", "flow", "heartbeat", payload={"number": number})
    events = telemetry.events("run")
    assert [event.payload["number"] for event in events] == list(range(3500, 5000))
    assert events[-1].seq - events[0].seq == 1499
    assert [each.payload["number"] for each in telemetry.events("run", events[-3].seq)] == [
        4998,
        4999,
    ]
