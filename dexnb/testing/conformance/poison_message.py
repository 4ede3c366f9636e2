"""How often something was delivered: the count that tells poison from bad luck."""

from __future__ import annotations

from dexnb.testing.conformance.case import POLL_1, Case, case


class TestPoisonMessage:
    """Attempt counts of messages and work items."""

    @case
    async def test_the_first_delivery_of_a_message_counts_one(self, store: Case) -> None:
        """Counting starts at one."""
        item = await store.locked_run()
        assert [message.attempt_count for message in item.messages] == [1]
        assert item.attempt_count == 1

    @case
    async def test_each_delivery_of_a_message_counts(self, store: Case) -> None:
        """One, two, three over hand-backs."""
        await store.start()
        await store.send()
        counts = []
        for _ in range(3):
            item = await store.take_run()
            counts.append(item.attempt_count)
            await store.provider.abandon_orchestration_item(item.token)
        assert counts == [1, 2, 3]

    @case
    async def test_the_first_delivery_of_a_work_item_counts_one(self, store: Case) -> None:
        """And is the attempt that was enqueued."""
        item = await store.started_work()
        assert (item.deliveries, item.item.attempt) == (1, 1)

    @case
    async def test_a_redelivery_after_a_silent_holder_counts(self, store: Case) -> None:
        """It raises the deliveries and the visible attempt by one."""
        await store.started_work()
        await store.locks_run_out()
        item = await store.take_work()
        assert (item.deliveries, item.item.attempt) == (2, 2)

    @case
    async def test_a_redelivery_counts_on_from_the_attempt_that_was_enqueued(
        self, store: Case
    ) -> None:
        """The third attempt delivered twice is the fourth."""
        first = await store.started_work()
        retry = store.work("a", attempt=3)
        await store.provider.ack_work_item(first.token, retry=retry)
        item = await store.take_work()
        assert (item.deliveries, item.item.attempt) == (1, 3)
        await store.provider.abandon_work_item(item.token)
        item = await store.take_work()
        assert (item.deliveries, item.item.attempt) == (2, 4)

    @case
    async def test_items_are_counted_one_by_one(self, store: Case) -> None:
        """The deliveries of one item are not another's."""
        await store.start(steps=["Poll-1", "Poll-2"])
        assert [(await store.take_work()).deliveries for _ in range(2)] == [1, 1]

    @case
    async def test_a_hand_back_may_leave_a_work_item_uncounted(self, store: Case) -> None:
        """An attempt that did not happen is not counted, however often it does not happen."""
        await store.start(steps=[POLL_1])
        for _ in range(20):
            item = await store.take_work()
            assert (item.deliveries, item.item.attempt) == (1, 1)
            await store.provider.abandon_work_item(item.token, ignore_attempt=True)

    @case
    async def test_a_hand_back_may_leave_a_message_uncounted(self, store: Case) -> None:
        """Twenty storage errors make no poison."""
        await store.start()
        await store.send()
        for _ in range(20):
            item = await store.take_run()
            assert item.attempt_count == 1
            await store.provider.abandon_orchestration_item(item.token, ignore_attempt=True)

    @case
    async def test_an_uncounted_hand_back_takes_back_one_delivery(self, store: Case) -> None:
        """Not all of them."""
        await store.started_work()
        await store.locks_run_out()
        item = await store.take_work()
        await store.provider.abandon_work_item(item.token, ignore_attempt=True)
        assert (await store.take_work()).deliveries == 2

    @case
    async def test_the_first_delivery_is_timed_once(self, store: Case) -> None:
        """A Step's budget counts from its first delivery, whatever became of it."""
        before = store.provider.clock.now()
        first = await store.started_work()
        began = first.item.first_attempt_at
        assert began is not None
        assert before <= began <= store.provider.clock.now()
        await store.locks_run_out()
        assert (await store.take_work()).item.first_attempt_at == began

    @case
    async def test_a_run_counts_as_its_most_delivered_message(self, store: Case) -> None:
        """An old message among new ones shows in the item's count."""
        await store.locked_run()
        await store.locks_run_out()
        await store.send("a", '"new"')
        item = await store.take_run()
        assert [message.attempt_count for message in item.messages] == [2, 1]
        assert item.attempt_count == 2
