"""An attempt's end that brings its turn along: both or, where the turn does not fit, a message."""

from __future__ import annotations

from contextlib import suppress

from dexnb.errors import ProviderError
from dexnb.model.event import Event
from dexnb.providers import Commit, NewMessage, WorkItem
from dexnb.testing.conformance.case import POLL_1, Case, case, lost, texts

DONE = '"done"'


def _turn(used: Case, version: int, name: str = "a", **parts: object) -> Commit:
    """Make the turn that goes on from a run's version."""
    return used.commit(name, events=[version + 1], **{"state": '"next"', **parts})


async def _end(used: Case, work: WorkItem, turn: Commit) -> bool:
    message = NewMessage(work.item.run_id, DONE)
    return await used.provider.ack_work_item_with_turn(work.token, message, turn)


class TestEndsWithTurns:
    """`ack_work_item_with_turn`; a store that always sends the message conforms, too."""

    @case
    async def test_the_attempt_ends_once_by_its_turn_or_by_its_message(self, used: Case) -> None:
        """Never by both: the run has either the turn's event, or a message to fetch."""
        work = await used.started_work()
        applied = await _end(used, work, _turn(used, 1))
        found = await used.find_run()
        record = await used.provider.read_run(run_id="run-a")
        assert record is not None
        assert (record.version, record.state) == ((2, '"next"') if applied else (1, "{}"))
        assert (found is None) if applied else (found is not None and texts(found) == [DONE])
        assert await used.find_work() is None
        await lost(_end, used, work, _turn(used, record.version))

    @case
    async def test_a_turn_that_was_applied_did_all_that_a_turn_does(self, used: Case) -> None:
        """Events, state, new work under the same id, messages to others and to itself."""
        await used.start("b")
        work = await used.started_work()
        turn = _turn(
            used,
            1,
            work_items=(used.work("a", POLL_1, payload='"again"'), used.work("a", "Poll-2")),
            messages=(used.message("a", '"self"'), used.message("b", '"other"')),
        )
        if not await _end(used, work, turn):
            return
        events: tuple[Event, ...] = await used.provider.read_events("run-a")
        assert [event.seq for event in events] == [1, 2]
        again, second = await used.take_work(), await used.take_work()
        assert (again.item.payload, again.item.attempt) == ('"again"', 1)
        assert second.item.step_execution_id == "Poll-2"
        assert sorted(texts(await used.take_run()) + texts(await used.take_run())) == [
            '"other"',
            '"self"',
        ]

    @case
    async def test_a_turn_that_ends_its_run_empties_its_queues(self, used: Case) -> None:
        """Also the other attempts of the run, whose holders lose them."""
        await used.start(steps=[POLL_1, "Poll-2"])
        first, second = await used.take_work(), await used.take_work()
        applied = await _end(used, first, _turn(used, 1, status="COMPLETED"))
        if applied:
            await lost(used.provider.renew_work_item_lock, second.token, 5.0)
            await used.send()
            assert await used.find_run() is None

    @case
    async def test_a_locked_run_is_told_by_a_message(self, used: Case) -> None:
        """Its holder has seen a state that the turn would change behind its back."""
        work = await used.started_work()
        await used.send()
        item = await used.take_run()
        assert await _end(used, work, _turn(used, 1)) is False
        await used.provider.ack_orchestration_item(item.token, used.turn(item))
        assert texts(await used.take_run()) == [DONE]

    @case
    async def test_what_came_before_is_folded_before(self, used: Case) -> None:
        """A visible message waits, so the attempt's end waits behind it."""
        work = await used.started_work()
        await used.send("a", '"first"')
        assert await _end(used, work, _turn(used, 1)) is False
        assert texts(await used.take_run()) == ['"first"', DONE]

    @case
    async def test_what_is_not_due_does_not_hold_up_a_turn(self, used: Case) -> None:
        """A timer that fires later has seen nothing yet; it comes all the same."""
        work = await used.started_work()
        due = used.provider.clock.now() + 2.0
        await used.provider.enqueue_for_orchestrator(used.message("a", '"timer"', due))
        applied = await _end(used, work, _turn(used, 1))
        found = await used.find_run()
        assert (found is None) if applied else (found is not None and texts(found) == [DONE])
        if found is not None:
            await used.provider.ack_orchestration_item(found.token, used.turn(found))
        await used.advance(2.1)
        assert texts(await used.take_run()) == ['"timer"']

    @case
    async def test_a_stale_turn_becomes_a_message(self, used: Case) -> None:
        """Another engine has had a turn since; nothing of the stale one is written."""
        work = await used.started_work()
        await used.send()
        item = await used.take_run()
        await used.provider.ack_orchestration_item(item.token, used.turn(item))
        assert await _end(used, work, _turn(used, 1)) is False
        record = await used.provider.read_run(run_id="run-a")
        assert record is not None
        assert (record.version, record.state) == (2, "{}")
        assert texts(await used.take_run()) == [DONE]

    @case
    async def test_a_lost_attempt_brings_no_turn(self, used: Case) -> None:
        """Whoever took the item over ends it; the first holder's word is refused whole."""
        work = await used.started_work()
        await used.locks_run_out()
        await lost(_end, used, work, _turn(used, 1))
        again = await used.take_work()
        await lost(_end, used, work, _turn(used, 1))
        record = await used.provider.read_run(run_id="run-a")
        assert record is not None
        assert record.version == 1
        assert again.item.attempt == work.item.attempt + 1
        assert await used.find_run() is None

    @case
    async def test_a_turn_that_cannot_be_written_changes_nothing(self, used: Case) -> None:
        """The attempt is still locked, and can end by its message alone."""
        await used.start(steps=[POLL_1, "Poll-2"])
        work = await used.take_work()
        other = "Poll-2" if work.item.step_execution_id == POLL_1 else POLL_1
        twice = _turn(used, 1, work_items=(used.work("a", other),))
        fresh = await used.provider.read_run(run_id="run-a")
        applied = None
        with suppress(ProviderError):
            applied = await _end(used, work, twice)
        if applied is False:
            return
        assert applied is None
        assert await used.provider.read_run(run_id="run-a") == fresh
        await used.provider.ack_work_item(work.token, NewMessage("run-a", DONE))
        assert texts(await used.take_run()) == [DONE]

    @case
    async def test_of_two_at_once_the_second_is_a_message(self, used: Case) -> None:
        """Parallel Steps of one run end together, and both were seen by a turn."""
        await used.start(steps=[POLL_1, "Poll-2"])
        first, second = await used.take_work(), await used.take_work()
        assert await _end(used, first, _turn(used, 1)) in (True, False)
        assert await _end(used, second, _turn(used, 1)) is False
        found = await used.take_run()
        assert texts(found)[-1] == DONE
