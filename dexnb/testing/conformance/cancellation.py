"""A turn takes attempts away, running ones too; their holders learn it by the next call."""

from __future__ import annotations

from typing import Any

from dexnb.providers import Beat
from dexnb.testing.conformance.case import POLL_1, Case, case, lost


async def _cancel(store: Case, *steps: str, **parts: Any) -> None:
    await store.send()
    item = await store.take_run()
    turn = store.turn(item, cancelled=steps, **parts)
    await store.provider.ack_orchestration_item(item.token, turn)


class TestCancellation:
    """Cancelling by deleting the work item."""

    @case
    async def test_a_cancelled_work_item_is_gone(self, store: Case) -> None:
        """The named ones and no others."""
        await store.start("a", steps=["Poll-1", "Poll-2", "Poll-3", "Poll-4"])
        await store.start("b", steps=["Poll-1"])
        await _cancel(store, "Poll-1", "Poll-3")
        taken = [(await store.take_work()).item for _ in range(3)]
        assert [(item.run_id, item.step_execution_id) for item in taken] == [
            ("run-a", "Poll-2"),
            ("run-a", "Poll-4"),
            ("run-b", "Poll-1"),
        ]
        assert await store.find_work() is None

    @case
    async def test_the_holder_of_a_cancelled_item_learns_it_by_renewing(self, store: Case) -> None:
        """A failed renewal is the sign to stop."""
        item = await store.started_work()
        await store.provider.renew_work_item_lock(item.token, store.lock_timeout)
        await _cancel(store, POLL_1)
        await lost(store.provider.renew_work_item_lock, item.token, store.lock_timeout)

    @case
    async def test_what_the_holder_of_a_cancelled_item_writes_is_refused(self, store: Case) -> None:
        """Its result, its hand-back and its checkpoint."""
        item = await store.started_work()
        await _cancel(store, POLL_1)
        await lost(store.provider.ack_work_item, item.token, store.message("a", '"done"'))
        await lost(store.provider.abandon_work_item, item.token)
        assert await store.provider.record_beats([Beat(item.token, "1")]) == {item.token}
        assert await store.find_run() is None
        await store.locks_run_out()
        assert await store.find_work() is None

    @case
    async def test_cancelling_what_is_not_there_is_no_error(self, store: Case) -> None:
        """The attempt may just have ended by itself."""
        await store.start()
        await _cancel(store, "Poll-1", "Never-7")
        await _cancel(store, "Poll-1")
        assert len(await store.provider.read_events("run-a")) == 3

    @case
    async def test_scheduled_and_cancelled_in_one_turn_is_nothing(self, store: Case) -> None:
        """Work items are inserted before the cancelled ones are deleted."""
        await store.start()
        work = (store.work("a", "Poll-1"), store.work("a", "Poll-2"))
        await _cancel(store, "Poll-1", work_items=work)
        assert (await store.take_work()).item.step_execution_id == "Poll-2"
        assert await store.find_work() is None

    @case
    async def test_a_delayed_work_item_can_be_cancelled(self, store: Case) -> None:
        """A retry that is not due yet never comes."""
        item = await store.started_work()
        due = store.provider.clock.now() + store.lock_timeout
        retry = store.work("a", attempt=2, visible_at=due)
        await store.provider.ack_work_item(item.token, retry=retry)
        await _cancel(store, POLL_1)
        await store.locks_run_out()
        assert await store.find_work() is None

    @case
    async def test_a_cancelled_step_execution_may_be_scheduled_again_later(
        self, store: Case
    ) -> None:
        """Its name is free once the item is gone, and the new item is not the old one."""
        old = await store.started_work()
        await _cancel(store, POLL_1)
        await store.send()
        item = await store.take_run()
        again = store.turn(item, work_items=(store.work("a"),))
        await store.provider.ack_orchestration_item(item.token, again)
        await lost(store.provider.ack_work_item, old.token)
        taken = await store.take_work()
        assert (taken.deliveries, taken.item.attempt) == (1, 1)

    @case
    async def test_the_end_of_a_run_is_the_end_of_its_attempts(self, store: Case) -> None:
        """Holders of a closed run's work items learn it as those of cancelled ones do."""
        item = await store.started_work()
        await _cancel(store, status="FAILED")
        await lost(store.provider.renew_work_item_lock, item.token, store.lock_timeout)
        await lost(store.provider.ack_work_item, item.token)

    @case
    async def test_a_running_attempt_of_an_open_run_goes_on(self, store: Case) -> None:
        """Turns that do not name it leave it alone."""
        item = await store.started_work()
        await _cancel(store, "Poll-2")
        await store.provider.renew_work_item_lock(item.token, store.lock_timeout)
        await store.provider.ack_work_item(item.token)

    @case
    async def test_an_ack_without_a_message_only_deletes(self, store: Case) -> None:
        """Both queues are empty after it."""
        item = await store.started_work()
        await store.provider.ack_work_item(item.token)
        depths = await store.provider.queue_depths()
        assert (depths.messages, depths.work_items, depths.leased) == (0, 0, 0)

    @case
    async def test_an_attempt_of_an_ended_run_does_not_touch_the_next_run(
        self, store: Case
    ) -> None:
        """The flow id is the same, the run is not."""
        old = await store.started_work("a")
        await _cancel(store, status="FAILED")
        work = (store.work("a2"),)
        turn = store.commit("a2", events=[1], work_items=work)
        await store.provider.start_run(turn)
        await lost(store.provider.ack_work_item, old.token, store.message("a2"))
        assert (await store.take_work()).item.run_id == "run-a2"
        assert await store.find_run() is None
