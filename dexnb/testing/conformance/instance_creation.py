"""A run comes into being by `start_run` alone, and is what its turns say."""

from __future__ import annotations

from dexnb.testing.conformance.case import FLOW_TYPE, Case, case


class TestInstanceCreation:
    """Where runs come from."""

    @case
    async def test_a_run_is_what_its_first_turn_says(self, store: Case) -> None:
        """Ids, type, status, state and history are read back as they were given."""
        await store.start(state='{"numbers":{}}')
        run = await store.provider.read_run(run_id="run-a")
        assert run is not None
        assert (run.run_id, run.flow_id, run.flow_type) == ("run-a", "flow-a", FLOW_TYPE)
        assert (run.status, run.version, run.state) == ("RUNNING", 1, '{"numbers":{}}')
        assert await store.provider.read_events("run-a") == (store.event("a", 1),)

    @case
    async def test_a_message_creates_no_run(self, store: Case) -> None:
        """What is sent to an unknown run leaves no trace of a run."""
        await store.send("a")
        assert await store.provider.read_run(run_id="run-a") is None
        assert await store.find_run() is None
        assert await store.provider.list_runs() == ()

    @case
    async def test_a_new_run_has_nothing_to_do_without_messages(self, store: Case) -> None:
        """Its first turn is applied already, so no turn is due."""
        await store.start()
        assert await store.find_run() is None

    @case
    async def test_a_message_of_the_first_turn_to_its_own_run_is_delivered(
        self, store: Case
    ) -> None:
        """A turn may send to the run that it makes."""
        await store.start(messages=(store.message("a", '"later"'),))
        item = await store.take_run()
        assert (item.run_id, item.version) == ("run-a", 1)
        assert [message.text for message in item.messages] == ['"later"']

    @case
    async def test_a_fetched_run_comes_with_its_newest_state(self, store: Case) -> None:
        """Each turn replaces the state and raises the version by its events."""
        item = await store.locked_run()
        await store.provider.ack_orchestration_item(
            item.token, store.turn(item, events=3, state='{"turn":1}')
        )
        await store.send()
        item = await store.take_run()
        assert (item.state, item.version) == ('{"turn":1}', 4)
        assert (item.flow_id, item.flow_type) == ("flow-a", FLOW_TYPE)

    @case
    async def test_a_turn_may_have_no_events(self, store: Case) -> None:
        """A message that changes nothing is taken off the queue all the same."""
        item = await store.locked_run()
        await store.provider.ack_orchestration_item(item.token, store.turn(item, events=0))
        assert await store.find_run() is None
        assert len(await store.provider.read_events("run-a")) == 1

    @case
    async def test_a_run_may_end_with_its_first_turn(self, store: Case) -> None:
        """Nothing that such a turn enqueued is ever delivered."""
        await store.start(status="FAILED", messages=(store.message("a"),))
        run = await store.provider.read_run(flow_id="flow-a")
        assert run is not None
        assert run.status == "FAILED"
        assert await store.find_run() is None
