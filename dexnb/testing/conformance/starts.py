"""A flow id has one open run: starting it again attaches, atomically."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from dexnb.providers import Started
from dexnb.testing.conformance.case import POLL_1, Case, case, refused


class TestStarts:
    """`start_run` under concurrency and after an end."""

    @case
    async def test_a_new_flow_id_makes_a_run(self, store: Case) -> None:
        """And says so."""
        assert await store.start() == Started("run-a", created=True)

    @case
    async def test_an_open_flow_id_attaches(self, store: Case) -> None:
        """The open run is given, and nothing of the second start is written."""
        await store.start(steps=[POLL_1])
        second = replace(
            store.commit("a2", events=[1], work_items=(store.work("a2"),)), flow_id="flow-a"
        )
        assert await store.provider.start_run(second) == Started("run-a", created=False)
        assert await store.provider.read_run(run_id="run-a2") is None
        assert (await store.take_work()).item.run_id == "run-a"
        assert await store.find_work() is None

    @case
    async def test_a_closed_flow_id_starts_anew(self, store: Case) -> None:
        """A new run under the same flow id; the old one stays readable."""
        item = await store.locked_run()
        await store.provider.ack_orchestration_item(
            item.token, store.turn(item, status="COMPLETED")
        )
        second = replace(store.commit("a2", events=[1]), flow_id="flow-a")
        assert await store.provider.start_run(second) == Started("run-a2", created=True)
        newest = await store.provider.read_run(flow_id="flow-a")
        assert newest is not None
        assert (newest.run_id, newest.status, newest.version) == ("run-a2", "RUNNING", 1)
        old = await store.provider.read_run(run_id="run-a")
        assert old is not None
        assert old.status == "COMPLETED"
        assert len(await store.provider.read_events("run-a")) == 2

    @case
    async def test_twenty_concurrent_starts_make_one_run(self, store: Case) -> None:
        """One of them made it, all of them know it."""
        starts = [
            replace(
                store.commit(f"n{number}", events=[1], work_items=(store.work(f"n{number}"),)),
                flow_id="flow-a",
            )
            for number in range(20)
        ]
        answers = await asyncio.gather(*map(store.provider.start_run, starts))
        assert sum(answer.created for answer in answers) == 1
        assert len({answer.run_id for answer in answers}) == 1
        assert len(await store.provider.list_runs()) == 1
        assert (await store.take_work()).item.run_id == answers[0].run_id
        assert await store.find_work() is None

    @case
    async def test_starts_of_two_engines_make_one_run(self, store: Case) -> None:
        """The store decides, whoever asks."""
        other = await store.second()
        starts = [
            replace(store.commit(f"n{number}", events=[1]), flow_id="flow-a")
            for number in range(10)
        ]
        engines = (store.provider, other) * 5
        answers = await asyncio.gather(
            *(engine.start_run(start) for engine, start in zip(engines, starts, strict=True))
        )
        assert sum(answer.created for answer in answers) == 1
        assert len({answer.run_id for answer in answers}) == 1

    @case
    async def test_concurrent_starts_of_other_flow_ids_make_their_runs(self, store: Case) -> None:
        """One flow id does not wait for, or take, another's."""
        answers = await asyncio.gather(*(store.start(f"n{number}") for number in range(20)))
        assert all(answer.created for answer in answers)
        assert len(await store.provider.list_runs()) == 20

    @case
    async def test_a_run_id_is_never_used_twice(self, store: Case) -> None:
        """A start that reuses one is refused, though its flow id is free."""
        await store.start("a")
        await refused(
            store.provider.start_run, replace(store.commit("a", events=[1]), flow_id="flow-b")
        )
        assert await store.provider.read_run(flow_id="flow-b") is None

    @case
    async def test_a_started_run_is_there_for_every_engine(self, store: Case) -> None:
        """Once the call has returned, another engine sees the run and its work."""
        other = await store.second()
        await store.start(steps=[POLL_1])
        assert await other.read_run(run_id="run-a") is not None
        assert (await store.take_work(other)).item.run_id == "run-a"
