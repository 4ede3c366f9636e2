"""One call applies all or nothing, and a call's fault is its own."""

from __future__ import annotations

import asyncio

from dexnb.errors import LeaseLost, ProviderError
from dexnb.testing.conformance.case import POLL_1, Case, case, lost, refused, texts


class TestAtomicity:
    """Whatever changes the store is atomic per call."""

    @case
    async def test_a_refused_ack_changes_nothing_and_keeps_the_lock(self, store: Case) -> None:
        """Events that do not go on from the version take the whole turn with them."""
        item = await store.locked_run()
        await store.start("b")
        bad = store.commit(
            "a",
            events=[2, 4],
            state='{"bad":1}',
            work_items=(store.work("a"),),
            messages=(store.message("b"),),
        )
        await refused(store.provider.ack_orchestration_item, item.token, bad)
        run = await store.provider.read_run(run_id="run-a")
        assert run is not None
        assert (run.state, run.version) == ("{}", 1)
        assert len(await store.provider.read_events("run-a")) == 1
        assert await store.find_work() is None
        assert await store.find_run() is None
        await store.provider.ack_orchestration_item(item.token, store.turn(item))

    @case
    async def test_an_ack_that_repeats_an_event_is_refused(self, store: Case) -> None:
        """A second turn with the number of the first leaves the history as it was."""
        item = await store.locked_run()
        await store.provider.ack_orchestration_item(item.token, store.turn(item))
        await store.send()
        again = await store.take_run()
        await refused(
            store.provider.ack_orchestration_item, again.token, store.commit("a", events=[2])
        )
        assert [event.seq for event in await store.provider.read_events("run-a")] == [1, 2]

    @case
    async def test_a_refused_ack_keeps_a_cancelled_item(self, store: Case) -> None:
        """What a turn would have deleted is there, when the turn is refused."""
        await store.start(steps=[POLL_1])
        await store.send()
        item = await store.take_run()
        bad = store.commit("a", events=[9], cancelled=(POLL_1,), status="FAILED")
        await refused(store.provider.ack_orchestration_item, item.token, bad)
        assert await store.find_work() is not None
        run = await store.provider.read_run(run_id="run-a")
        assert run is not None
        assert run.status == "RUNNING"

    @case
    async def test_one_ack_applies_everything(self, store: Case) -> None:
        """Events, state, work items and messages are all there after one turn."""
        item = await store.locked_run()
        await store.start("b")
        turn = store.turn(
            item,
            events=5,
            state='{"turn":1}',
            work_items=tuple(store.work("a", f"Poll-{n}") for n in (1, 2, 3)),
            messages=(store.message("b", '"1"'), store.message("b", '"2"')),
        )
        await store.provider.ack_orchestration_item(item.token, turn)
        run = await store.provider.read_run(run_id="run-a")
        assert run is not None
        assert (run.state, run.version) == ('{"turn":1}', 6)
        assert await store.provider.read_events("run-a", after=1) == turn.events
        steps = [(await store.take_work()).item.step_execution_id for _ in range(3)]
        assert steps == ["Poll-1", "Poll-2", "Poll-3"]
        assert texts(await store.take_run()) == ['"1"', '"2"']

    @case
    async def test_the_lock_of_a_refused_ack_runs_out_as_any_other(self, store: Case) -> None:
        """After its time the run is fetched again, with the same messages."""
        item = await store.locked_run()
        await refused(
            store.provider.ack_orchestration_item, item.token, store.commit("a", events=[7])
        )
        assert await store.find_run() is None
        await store.locks_run_out()
        assert texts(await store.take_run()) == texts(item)

    @case
    async def test_of_two_concurrent_acks_one_applies(self, store: Case) -> None:
        """The loser learns that its token is gone, and the turn is there once."""
        item = await store.locked_run()
        turn = store.turn(item)
        answers = await asyncio.gather(
            store.provider.ack_orchestration_item(item.token, turn),
            store.provider.ack_orchestration_item(item.token, turn),
            return_exceptions=True,
        )
        assert sum(answer is None for answer in answers) == 1
        assert sum(isinstance(answer, LeaseLost) for answer in answers) == 1
        assert len(await store.provider.read_events("run-a")) == 2

    @case
    async def test_a_refused_start_changes_nothing(self, store: Case) -> None:
        """A first turn whose events do not begin at 1 makes no run and enqueues nothing."""
        bad = store.commit("a", events=[2], work_items=(store.work("a"),))
        await refused(store.provider.start_run, bad)
        assert await store.provider.read_run(flow_id="flow-a") is None
        assert await store.find_work() is None
        assert (await store.start(steps=[POLL_1])).created

    @case
    async def test_a_step_execution_has_one_work_item(self, store: Case) -> None:
        """A turn that would enqueue a live Step execution again is refused as a whole."""
        await store.start(steps=[POLL_1])
        await store.send()
        item = await store.take_run()
        for steps in (("Poll-2", POLL_1), ("Poll-2", "Poll-2")):
            bad = store.turn(item, work_items=tuple(store.work("a", step) for step in steps))
            await refused(store.provider.ack_orchestration_item, item.token, bad)
        assert (await store.take_work()).item.step_execution_id == POLL_1
        assert await store.find_work() is None

    @case
    async def test_a_lost_work_item_sends_neither_message_nor_retry(self, store: Case) -> None:
        """An ack under a dead token is refused with all that it carries."""
        await store.started_work()
        ack = store.provider.ack_work_item
        await lost(ack, "no token", store.message("a"), store.work("a", "Poll-2"))
        assert await store.find_run() is None
        assert await store.find_work() is None

    @case
    async def test_the_fault_of_one_call_is_not_its_neighbours(self, store: Case) -> None:
        """Of calls made at once the guilty fail alone, though they may share a transaction."""
        names = "abcdef"
        items = {name: await store.locked_run(name) for name in names}
        turns = {name: store.commit(name, events=[9] if name in "be" else [2]) for name in names}
        answers = await asyncio.gather(
            *(
                store.provider.ack_orchestration_item(items[name].token, turns[name])
                for name in names
            ),
            return_exceptions=True,
        )
        guilty = [n for n, answer in zip(names, answers, strict=True) if answer is not None]
        assert guilty == ["b", "e"]
        assert all(isinstance(answer, ProviderError) for answer in answers if answer is not None)
        assert [len(await store.provider.read_events(f"run-{name}")) for name in names] == [
            1 if name in "be" else 2 for name in names
        ]
