"""What is delivered, in which order, from when, and to whom."""

from __future__ import annotations

from dexnb.providers import Handlers
from dexnb.testing.conformance.case import POLL_1, Case, case, texts


class TestQueueSemantics:
    """Order, visibility and eligibility in both queues."""

    @case
    async def test_work_items_come_in_the_order_of_their_enqueueing(self, store: Case) -> None:
        """Five of one turn, then one of a later run."""
        steps = [f"Poll-{number}" for number in range(1, 6)]
        await store.start(steps=steps)
        await store.start("b", steps=["Poll-9"])
        taken = [(await store.take_work()).item.step_execution_id for _ in range(6)]
        assert taken == [*steps, "Poll-9"]

    @case
    async def test_the_oldest_work_item_comes_first_over_all_handlers(self, store: Case) -> None:
        """The order does not depend on which code runs it."""
        store.handlers = Handlers({"Polling/Poll", "Polling/Begin", "Polling/Await"})
        await store.start(steps=["Await-1", "Poll-1", "Begin-1", "Await-2"])
        taken = [(await store.take_work()).item.step_execution_id for _ in range(4)]
        assert taken == ["Await-1", "Poll-1", "Begin-1", "Await-2"]

    @case
    async def test_a_work_item_stays_until_it_is_acknowledged(self, store: Case) -> None:
        """A lock hides it, the ack deletes it."""
        item = await store.started_work()
        assert await store.find_work() is None
        await store.locks_run_out()
        again = await store.take_work()
        assert again.item.step_execution_id == item.item.step_execution_id
        await store.provider.ack_work_item(again.token)
        await store.locks_run_out()
        assert await store.find_work() is None

    @case
    async def test_an_ack_sends_its_message(self, store: Case) -> None:
        """The item is gone and the run has the message, both at once."""
        item = await store.started_work()
        await store.provider.ack_work_item(item.token, store.message("a", '"done"'))
        assert await store.find_work() is None
        assert texts(await store.take_run()) == ['"done"']

    @case
    async def test_an_ack_enqueues_its_retry(self, store: Case) -> None:
        """The next attempt of the same Step execution takes the place of the failed one."""
        item = await store.started_work()
        retry = store.work("a", POLL_1, attempt=2, payload='{"n":2}', first_attempt_at=5.0)
        await store.provider.ack_work_item(item.token, retry=retry)
        taken = await store.take_work()
        assert (taken.item.attempt, taken.item.payload) == (2, '{"n":2}')
        assert (taken.item.first_attempt_at, taken.deliveries) == (5.0, 1)
        assert await store.find_run() is None

    @case
    async def test_a_retry_waits_for_its_time(self, store: Case) -> None:
        """It is hidden until it is due."""
        item = await store.started_work()
        due = store.provider.clock.now() + store.lock_timeout
        await store.provider.ack_work_item(
            item.token, retry=store.work("a", attempt=2, visible_at=due)
        )
        assert await store.find_work() is None
        await store.locks_run_out()
        assert (await store.take_work()).item.attempt == 2

    @case
    async def test_a_delayed_message_waits_for_its_time(self, store: Case) -> None:
        """A message to come makes no turn before it is due."""
        await store.start()
        due = store.provider.clock.now() + store.lock_timeout
        await store.provider.enqueue_for_orchestrator(store.message("a", '"timer"', due))
        assert await store.find_run() is None
        await store.locks_run_out()
        assert texts(await store.take_run()) == ['"timer"']

    @case
    async def test_a_turn_leaves_a_delayed_message_where_it_is(self, store: Case) -> None:
        """A fetch takes what is visible, and its ack deletes no more."""
        await store.start()
        due = store.provider.clock.now() + store.lock_timeout
        await store.provider.enqueue_for_orchestrator(store.message("a", '"timer"', due))
        await store.send("a", '"now"')
        item = await store.take_run()
        assert texts(item) == ['"now"']
        await store.provider.ack_orchestration_item(item.token, store.turn(item))
        await store.locks_run_out()
        assert texts(await store.take_run()) == ['"timer"']

    @case
    async def test_a_younger_visible_item_overtakes_a_delayed_one(self, store: Case) -> None:
        """Nothing waits behind what is not due."""
        await store.start(steps=["Poll-1", "Poll-2"])
        first = await store.take_work()
        await store.provider.abandon_work_item(first.token, 600.0)
        assert (await store.take_work()).item.step_execution_id == "Poll-2"
        assert await store.find_work() is None

    @case
    async def test_the_run_with_the_oldest_message_comes_first(self, store: Case) -> None:
        """Not the run that was started first."""
        for name in "abc":
            await store.start(name)
        for name in "cab":
            await store.send(name)
        assert [(await store.take_run()).flow_id for _ in range(3)] == [
            "flow-c",
            "flow-a",
            "flow-b",
        ]

    @case
    async def test_all_visible_messages_of_a_run_come_together(self, store: Case) -> None:
        """In the order in which they were sent, whoever else was sent to between."""
        await store.start("a")
        await store.start("b")
        for number in range(3):
            await store.send("a", f'"{number}"')
            await store.send("b")
        assert texts(await store.take_run()) == ['"0"', '"1"', '"2"']

    @case
    async def test_messages_to_unknown_runs_are_dropped(self, store: Case) -> None:
        """A fetch that meets them goes on to what is of use, and they never come back."""
        await store.send("nobody")
        await store.start("a")
        await store.send("a")
        assert (await store.take_run()).run_id == "run-a"
        assert await store.find_run() is None
        assert (await store.provider.queue_depths()).messages <= 1

    @case
    async def test_messages_to_closed_runs_are_dropped(self, store: Case) -> None:
        """They neither make a turn nor stay in the queue."""
        item = await store.locked_run()
        await store.provider.ack_orchestration_item(
            item.token, store.turn(item, status="COMPLETED")
        )
        await store.send("a")
        assert await store.find_run() is None
        assert (await store.provider.queue_depths()).messages == 0

    @case
    async def test_a_closing_turn_empties_the_queues_of_its_run(self, store: Case) -> None:
        """Of messages that came meanwhile, of delayed ones, and of all attempts."""
        await store.start("a", steps=["Poll-1", "Poll-2"])
        await store.start("b", steps=["Poll-1"])
        await store.send("a")
        item = await store.take_run()
        await store.send("a", '"late"')
        due = store.provider.clock.now() + store.lock_timeout
        await store.provider.enqueue_for_orchestrator(store.message("a", '"timer"', due))
        turn = store.turn(item, status="FAILED", work_items=(store.work("a", "Poll-3"),))
        await store.provider.ack_orchestration_item(item.token, turn)
        depths = await store.provider.queue_depths()
        assert (depths.messages, depths.work_items) == (0, 1)
        assert (await store.take_work()).item.run_id == "run-b"
        assert await store.find_work() is None
        await store.locks_run_out()
        assert await store.find_run() is None

    @case
    async def test_only_what_the_handlers_run_is_fetched(self, store: Case) -> None:
        """What this engine has no code for is neither delivered nor locked."""
        await store.start(steps=["Other-1", "Poll-1"])
        assert (await store.take_work()).item.step_execution_id == "Poll-1"
        assert await store.find_work() is None
        store.handlers = Handlers({"Polling/Other"})
        taken = await store.take_work()
        assert (taken.item.step_execution_id, taken.deliveries) == ("Other-1", 1)

    @case
    async def test_a_handler_is_flow_type_and_step_type(self, store: Case) -> None:
        """A Step of the same name in another Flow is another Step."""
        work = store.work("a", flow_type="Waiting")
        await store.provider.start_run(store.commit("a", events=[1], work_items=(work,)))
        assert await store.find_work() is None
        store.handlers.names = frozenset({"Waiting/Poll"})
        assert (await store.take_work()).item.handler == "Waiting/Poll"

    @case
    async def test_an_engine_without_handlers_gets_nothing(self, store: Case) -> None:
        """And what waits is not touched by its asking."""
        await store.start(steps=[POLL_1])
        store.handlers = Handlers()
        assert await store.find_work() is None
        store.handlers.names = frozenset({"Polling/Poll"})
        assert (await store.take_work()).deliveries == 1

    @case
    async def test_many_work_items_are_fetched_at_once(self, store: Case) -> None:
        """Never more than asked for, each under a token of its own, oldest first."""
        await store.start(steps=[f"Poll-{number}" for number in range(1, 6)])
        found: list[str] = []
        tokens: set[str] = set()
        for limit in (2, 10, 10, 10, 10, 10):
            items = await store.provider.fetch_work_items(
                store.lock_timeout, 0, store.handlers, limit
            )
            assert len(items) <= limit
            found += [item.item.step_execution_id for item in items]
            tokens |= {item.token for item in items}
        assert found == [f"Poll-{number}" for number in range(1, 6)]
        assert len(tokens) == 5

    @case
    async def test_many_runs_are_fetched_at_once(self, store: Case) -> None:
        """Never more than asked for, each run once."""
        for name in "abcde":
            await store.start(name)
            await store.send(name)
        found: list[str] = []
        for limit in (2, 10, 10, 10, 10, 10):
            items = await store.provider.fetch_orchestration_items(store.lock_timeout, 0, limit)
            assert len(items) <= limit
            found += [item.run_id for item in items]
        assert found == [f"run-{name}" for name in "abcde"]

    @case
    async def test_another_engine_is_served_what_this_one_enqueued(self, store: Case) -> None:
        """The queues belong to the store, not to the engine."""
        other = await store.second()
        await store.start(steps=[POLL_1])
        await store.send()
        assert (await store.take_work(other)).item.run_id == "run-a"
        assert (await store.take_run(other)).run_id == "run-a"
