"""Stream messages: best effort, fenced, in order, within a budget that all runs share."""

from __future__ import annotations

from typing import Any

from dexnb.providers import StreamRecord, StreamWrite
from dexnb.testing.conformance.case import FLOW_TYPE, POLL_1, Case, case

OVERHEAD = 512
LARGEST = 100 * 1024


def _write(payload: str = '"x"', **parts: Any) -> StreamWrite:
    values = {
        "flow_type": FLOW_TYPE,
        "stream": "progress",
        "flow_id": "flow-a",
        "run_id": "run-a",
        "source": "#Poll-1",
        "payload": payload,
        "wall": 1e9,
        "capacity": 1_000_000,
        **parts,
    }
    return StreamWrite(**values)


async def _read(store: Case, **parts: Any) -> tuple[StreamRecord, ...]:
    return await store.provider.read_stream(FLOW_TYPE, "progress", **parts)


def _size(records: tuple[StreamRecord, ...]) -> int:
    return sum(len(record.payload.encode()) + OVERHEAD for record in records)


class TestStreams:
    """Writing, reading, refusing and trimming."""

    @case
    async def test_messages_are_read_in_the_order_of_their_writing(self, store: Case) -> None:
        """With all that was written, over several calls."""
        assert await store.provider.write_stream([_write("1"), _write("2")]) == (True, True)
        assert await store.provider.write_stream([_write("3", source="client")]) == (True,)
        records = await _read(store)
        assert [record.payload for record in records] == ["1", "2", "3"]
        assert [record.source for record in records] == ["#Poll-1", "#Poll-1", "client"]
        first = records[0]
        assert (first.flow_type, first.stream, first.wall) == (FLOW_TYPE, "progress", 1e9)
        assert (first.flow_id, first.run_id) == ("flow-a", "run-a")

    @case
    async def test_reading_goes_on_behind_a_position(self, store: Case) -> None:
        """Positions grow; nothing is read twice or left out."""
        await store.provider.write_stream([_write(str(number)) for number in range(10)])
        seen: list[str] = []
        after = 0
        while records := await _read(store, after=after, limit=3):
            assert len(records) <= 3
            assert all(record.position > after for record in records)
            seen += [record.payload for record in records]
            after = records[-1].position
        assert seen == [str(number) for number in range(10)]

    @case
    async def test_positions_never_start_again(self, store: Case) -> None:
        """What was trimmed leaves its number behind, so a reader's place stays good."""
        await store.provider.write_stream([_write("1", capacity=700)])
        (first,) = await _read(store)
        await store.provider.write_stream([_write("2", capacity=700)])
        (second,) = await _read(store)
        assert (second.payload, second.position > first.position) == ("2", True)
        assert await _read(store, after=first.position) == (second,)

    @case
    async def test_one_flow_or_all_of_them(self, store: Case) -> None:
        """A Stream is read as a whole or by flow id."""
        await store.provider.write_stream([_write("1"), _write("2", flow_id="flow-b"), _write("3")])
        assert [record.payload for record in await _read(store)] == ["1", "2", "3"]
        mine = await _read(store, flow_id="flow-a")
        assert [record.payload for record in mine] == ["1", "3"]
        assert [r.payload for r in await _read(store, flow_id="flow-a", limit=1)] == ["1"]

    @case
    async def test_streams_are_apart_by_flow_type_and_name(self, store: Case) -> None:
        """The same name in another Flow is another Stream."""
        await store.provider.write_stream(
            [_write("1"), _write("2", stream="log"), _write("3", flow_type="Waiting")]
        )
        assert [record.payload for record in await _read(store)] == ["1"]
        other = await store.provider.read_stream("Waiting", "progress")
        assert [record.payload for record in other] == ["3"]

    @case
    async def test_a_write_under_a_live_token_is_kept(self, store: Case) -> None:
        """And one under a token that is not live is refused, beside the others of the call."""
        item = await store.started_work()
        writes = [
            _write("1", token=item.token),
            _write("2", token=item.token + "x"),
            _write("3"),
        ]
        assert await store.provider.write_stream(writes) == (True, False, True)
        assert [record.payload for record in await _read(store)] == ["1", "3"]

    @case
    async def test_a_write_after_the_fence_is_refused(self, store: Case) -> None:
        """An expired attempt, and one whose item was taken again, write nothing more."""
        item = await store.started_work()
        await store.locks_run_out()
        assert await store.provider.write_stream([_write(token=item.token)]) == (False,)
        again = await store.take_work()
        writes = [_write("1", token=item.token), _write("2", token=again.token)]
        assert await store.provider.write_stream(writes) == (False, True)
        assert [record.payload for record in await _read(store)] == ["2"]

    @case
    async def test_a_message_over_the_limit_is_refused(self, store: Case) -> None:
        """100 KiB fit, one byte more does not, and bytes are counted, not letters."""
        fits, over = "x" * LARGEST, "x" * (LARGEST + 1)
        letters = "é" * (LARGEST // 2 + 1)
        answers = await store.provider.write_stream([_write(fits), _write(over), _write(letters)])
        assert answers == (True, False, False)
        assert [record.payload for record in await _read(store)] == [fits]

    @case
    async def test_a_message_over_the_budget_of_its_stream_is_refused(self, store: Case) -> None:
        """Its 512 bytes counted, and what was kept before stays."""
        await store.provider.write_stream([_write("1", capacity=2000)])
        answers = await store.provider.write_stream(
            [_write("x" * (2000 - OVERHEAD + 1), capacity=2000)]
        )
        assert answers == (False,)
        assert [record.payload for record in await _read(store)] == ["1"]

    @case
    async def test_a_message_that_just_fits_stays(self, store: Case) -> None:
        """The newest message is never trimmed for its own sake."""
        large = "x" * (2000 - OVERHEAD)
        assert await store.provider.write_stream([_write(large, capacity=2000)]) == (True,)
        assert [record.payload for record in await _read(store)] == [large]

    @case
    async def test_a_full_stream_is_trimmed_from_its_oldest(self, store: Case) -> None:
        """Above 90 % of the budget down to 80 %, whichever run wrote it."""
        capacity, payload = 100_000, "x" * 488
        sizes: list[int] = []
        for number in range(250):
            name = f"flow-{number % 7}"
            await store.provider.write_stream([_write(payload, flow_id=name, capacity=capacity)])
            sizes.append(_size(await _read(store)))
        assert sizes[89] == 90_000
        assert sizes[90] == 80_000
        assert max(sizes) <= 90_000
        assert min(sizes[90:]) >= 80_000
        positions = [record.position for record in await _read(store)]
        assert positions == list(range(positions[0], positions[0] + len(positions)))

    @case
    async def test_a_large_batch_keeps_the_budget_too(self, store: Case) -> None:
        """However many messages come in one call, the newest are kept within the budget."""
        writes = [_write(str(number), capacity=50_000) for number in range(500)]
        answers = await store.provider.write_stream(writes)
        records = await _read(store)
        assert 38_000 <= _size(records) <= 45_000
        newest = [str(number) for number in range(500)][-len(records) :]
        assert [record.payload for record in records] == newest
        assert answers[-len(records) :] == (True,) * len(records)

    @case
    async def test_all_runs_share_the_budget_of_a_stream(self, store: Case) -> None:
        """As those of one Flow do: the oldest messages go, whichever run they are of."""
        writes = [
            _write(str(number), flow_id=f"flow-{run}", run_id=f"run-{run}", capacity=16_000)
            for run in "abcd"
            for number in range(30)
        ]
        for first in range(0, len(writes), 30):
            await store.provider.write_stream(writes[first : first + 30])
        records = await _read(store)
        assert _size(records) <= 14_400
        assert {record.run_id for record in records} == {"run-d"}

    @case
    async def test_the_budget_of_one_stream_is_not_anothers(self, store: Case) -> None:
        """Trimming takes from the full Stream alone."""
        await store.provider.write_stream([_write("1", stream="log")])
        for _ in range(20):
            await store.provider.write_stream([_write("x" * 488, capacity=5000)])
        assert len(await store.provider.read_stream(FLOW_TYPE, "log")) == 1

    @case
    async def test_messages_outlive_their_run(self, store: Case) -> None:
        """They are read after the run has ended, by another engine too."""
        await store.start(steps=[POLL_1])
        item = await store.take_work()
        await store.provider.write_stream([_write("1", token=item.token)])
        await store.send()
        run = await store.take_run()
        await store.provider.ack_orchestration_item(run.token, store.turn(run, status="COMPLETED"))
        other = await store.second()
        records = await other.read_stream(FLOW_TYPE, "progress")
        assert [record.payload for record in records] == ["1"]
