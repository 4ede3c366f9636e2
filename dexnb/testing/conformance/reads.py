"""Look-ups: runs, histories and queue depths, without touching them."""

from __future__ import annotations

from dataclasses import replace

from dexnb.testing.conformance.case import POLL_1, Case, case


async def _end(store: Case, name: str, status: str) -> None:
    item = await store.locked_run(name)
    await store.provider.ack_orchestration_item(item.token, store.turn(item, status=status))


class TestReads:
    """What views, clients and restarts ask for."""

    @case
    async def test_runs_are_listed_newest_first(self, store: Case) -> None:
        """All of them, up to the limit."""
        for name in "abcde":
            await store.start(name)
        runs = await store.provider.list_runs()
        assert [run.flow_id for run in runs] == [f"flow-{name}" for name in "edcba"]
        assert await store.provider.list_runs(limit=2) == runs[:2]

    @case
    async def test_runs_are_listed_by_status(self, store: Case) -> None:
        """As they stand now."""
        await _end(store, "a", "COMPLETED")
        await store.start("b")
        await _end(store, "c", "FAILED")
        await _end(store, "d", "COMPLETED")
        listed = {
            status: [run.run_id for run in await store.provider.list_runs(status=status)]
            for status in ("COMPLETED", "FAILED", "RUNNING", "CANCELED")
        }
        assert listed == {
            "COMPLETED": ["run-d", "run-a"],
            "FAILED": ["run-c"],
            "RUNNING": ["run-b"],
            "CANCELED": [],
        }

    @case
    async def test_a_list_goes_on_behind_a_run(self, store: Case) -> None:
        """Page by page, nothing twice, though new runs come in between."""
        for number in range(5):
            await store.start(f"n{number}")
        seen: list[str] = []
        before = ""
        while runs := await store.provider.list_runs(limit=2, before=before):
            seen += [run.run_id for run in runs]
            before = runs[-1].run_id
            await store.start(f"new-{before}")
        assert seen == [f"run-n{number}" for number in (4, 3, 2, 1, 0)]

    @case
    async def test_a_list_behind_an_unknown_run_is_empty(self, store: Case) -> None:
        """Rather than the first page again."""
        await store.start()
        assert await store.provider.list_runs(before="run-x") == ()

    @case
    async def test_a_flow_id_gives_its_newest_run(self, store: Case) -> None:
        """A run id gives just that run."""
        await _end(store, "a", "COMPLETED")
        await store.provider.start_run(replace(store.commit("a2", events=[1]), flow_id="flow-a"))
        newest = await store.provider.read_run(flow_id="flow-a")
        oldest = await store.provider.read_run(run_id="run-a")
        assert newest is not None
        assert oldest is not None
        assert (newest.run_id, oldest.run_id) == ("run-a2", "run-a")
        runs = await store.provider.list_runs()
        assert runs == (newest, oldest)

    @case
    async def test_events_are_read_behind_a_number(self, store: Case) -> None:
        """In order, so that a follower reads each one once."""
        item = await store.locked_run()
        await store.provider.ack_orchestration_item(item.token, store.turn(item, events=4))
        read = store.provider.read_events
        assert [event.seq for event in await read("run-a")] == [1, 2, 3, 4, 5]
        assert [event.seq for event in await read("run-a", after=3)] == [4, 5]
        assert await read("run-a", after=5) == ()

    @case
    async def test_histories_are_apart(self, store: Case) -> None:
        """Each run has its own, from 1."""
        await store.start("a")
        item = await store.locked_run("b")
        await store.provider.ack_orchestration_item(item.token, store.turn(item))
        assert await store.provider.read_events("run-a") == (store.event("a", 1),)
        assert await store.provider.read_events("run-b") == (
            store.event("b", 1),
            store.event("b", 2),
        )

    @case
    async def test_depths_count_what_waits(self, store: Case) -> None:
        """Messages and work items, delayed ones too, and what is leased apart."""
        await store.start(steps=["Poll-1", "Poll-2", "Poll-3", "Other-1"])
        await store.send("a", '"1"', '"2"')
        later = store.provider.clock.now() + 60
        await store.provider.enqueue_for_orchestrator(store.message("a", '"3"', later))
        depths = await store.provider.queue_depths()
        assert (depths.messages, depths.work_items, depths.leased) == (3, 4, 0)
        delayed = await store.take_work()
        await store.provider.abandon_work_item(delayed.token, 60.0)
        await store.take_work()
        depths = await store.provider.queue_depths()
        assert (depths.messages, depths.work_items, depths.leased) == (3, 3, 1)

    @case
    async def test_a_lease_that_ran_out_is_not_counted_as_one(self, store: Case) -> None:
        """The item waits again."""
        await store.started_work()
        await store.locks_run_out()
        depths = await store.provider.queue_depths()
        assert (depths.work_items, depths.leased) == (1, 0)

    @case
    async def test_looking_changes_nothing(self, store: Case) -> None:
        """No count, no lock and no order is touched by a look-up."""
        await store.start(steps=[POLL_1])
        await store.send()
        for _ in range(3):
            await store.provider.read_run(run_id="run-a")
            await store.provider.read_events("run-a")
            await store.provider.list_runs()
            await store.provider.queue_depths()
        assert (await store.take_run()).attempt_count == 1
        assert (await store.take_work()).deliveries == 1
