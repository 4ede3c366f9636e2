"""Locks run out, can be renewed while they live, and never come back to life."""

from __future__ import annotations

from dexnb.providers import Beat, Provider
from dexnb.testing.conformance.case import POLL_1, Case, case, lost


def _set_forward(provider: Provider, which: str) -> None:
    """Let one of the two times of a provider's clock be an hour ahead from now on."""
    tell = getattr(provider.clock, which)
    setattr(provider.clock, which, lambda: tell() + 3600.0)


class TestLockExpiration:
    """Peek-lock: what happens when a holder is slow, silent or gone."""

    @case
    async def test_the_token_of_an_expired_run_lock_does_nothing(self, store: Case) -> None:
        """Though nobody took the run again: no ack, no renewal, no hand-back."""
        item = await store.locked_run()
        await store.locks_run_out()
        provider = store.provider
        await lost(provider.ack_orchestration_item, item.token, store.turn(item))
        await lost(provider.renew_orchestration_item_lock, item.token, 5.0)
        await lost(provider.abandon_orchestration_item, item.token, 60.0)
        assert (await store.take_run()).version == 1

    @case
    async def test_the_token_of_an_expired_work_item_does_nothing(self, store: Case) -> None:
        """Its ack is refused and the item is still there."""
        item = await store.started_work()
        await store.locks_run_out()
        provider = store.provider
        await lost(provider.ack_work_item, item.token, store.message("a"))
        await lost(provider.renew_work_item_lock, item.token, 5.0)
        await lost(provider.abandon_work_item, item.token, 60.0)
        assert (await store.take_work()).token != item.token
        assert await store.find_run() is None

    @case
    async def test_no_lock_runs_out_by_the_time_of_what_is_due(self, store: Case) -> None:
        """That goes on in a suspended machine, whose engines could not renew."""
        if store.factory.one_time:
            return
        await store.start(steps=[POLL_1])
        await store.send()
        work, run = await store.take_work(), await store.take_run()
        _set_forward(store.provider, "now")
        assert (await store.find_work(), await store.find_run()) == (None, None)
        assert await store.provider.record_beats([Beat(work.token, "1")]) == frozenset()
        assert await store.provider.renew_work_item_locks([work.token], 60.0) == frozenset()
        await store.provider.renew_orchestration_item_lock(run.token, 60.0)
        await store.provider.ack_work_item(work.token)
        await store.provider.ack_orchestration_item(run.token, store.turn(run))

    @case
    async def test_a_lock_runs_out_by_the_time_of_leases(self, store: Case) -> None:
        """Whatever is due by then."""
        if store.factory.one_time:
            return
        await store.start(steps=[POLL_1])
        await store.send()
        work, run = await store.take_work(), await store.take_run()
        _set_forward(store.provider, "lease")
        await lost(store.provider.ack_work_item, work.token)
        await lost(store.provider.ack_orchestration_item, run.token, store.turn(run))
        assert (await store.take_work()).deliveries == 2
        assert (await store.take_run()).attempt_count == 2

    @case
    async def test_the_old_token_is_dead_after_the_item_was_taken_again(self, store: Case) -> None:
        """What the first holder does late never touches the second one's lock."""
        first = await store.started_work()
        await store.locks_run_out()
        second = await store.take_work()
        await lost(store.provider.ack_work_item, first.token)
        await lost(store.provider.abandon_work_item, first.token)
        assert await store.find_work() is None
        await store.provider.ack_work_item(second.token)

    @case
    async def test_a_run_handed_back_is_free_at_once(self, store: Case) -> None:
        """And the token is used up."""
        item = await store.locked_run()
        await store.provider.abandon_orchestration_item(item.token)
        assert (await store.take_run()).token != item.token
        await lost(store.provider.abandon_orchestration_item, item.token)

    @case
    async def test_a_run_is_free_at_once_after_its_ack(self, store: Case) -> None:
        """The next message does not wait for the lock to run out."""
        item = await store.locked_run()
        await store.provider.ack_orchestration_item(item.token, store.turn(item))
        await store.send()
        await store.take_run()
        await lost(store.provider.renew_orchestration_item_lock, item.token, 5.0)

    @case
    async def test_a_work_item_handed_back_is_free_at_once(self, store: Case) -> None:
        """Under a new token; the old one is used up."""
        item = await store.started_work()
        await store.provider.abandon_work_item(item.token)
        assert (await store.take_work()).token != item.token
        await lost(store.provider.renew_work_item_lock, item.token, 5.0)

    @case
    async def test_a_work_item_handed_back_with_a_delay_is_hidden_so_long(
        self, store: Case
    ) -> None:
        """Nobody gets it before, everybody may after."""
        item = await store.started_work()
        await store.provider.abandon_work_item(item.token, store.lock_timeout)
        assert await store.find_work() is None
        await store.locks_run_out()
        await store.take_work()

    @case
    async def test_a_run_handed_back_with_a_delay_is_hidden_so_long(self, store: Case) -> None:
        """Its messages come back together."""
        await store.start()
        await store.send("a", '"1"', '"2"')
        item = await store.take_run()
        await store.provider.abandon_orchestration_item(item.token, store.lock_timeout)
        assert await store.find_run() is None
        await store.locks_run_out()
        assert len((await store.take_run()).messages) == 2

    @case
    async def test_a_renewed_work_item_is_held_past_its_first_end(self, store: Case) -> None:
        """Renewal counts from now, and its end is an end again."""
        item = await store.started_work()
        await store.provider.renew_work_item_lock(item.token, store.lock_timeout * 3)
        await store.locks_run_out()
        assert await store.find_work() is None
        await store.advance(store.lock_timeout * 2)
        await store.take_work()

    @case
    async def test_a_renewed_run_is_held_past_its_first_end(self, store: Case) -> None:
        """Renewal counts from now, and its end is an end again."""
        item = await store.locked_run()
        await store.provider.renew_orchestration_item_lock(item.token, store.lock_timeout * 3)
        await store.locks_run_out()
        assert await store.find_run() is None
        await store.advance(store.lock_timeout * 2)
        await store.take_run()

    @case
    async def test_a_renewal_may_also_shorten_a_lock(self, store: Case) -> None:
        """The newest word counts: the lock ends when the last renewal said."""
        await store.start(steps=["Poll-1", "Poll-2"])
        provider = store.provider
        for lock_timeout, shorter in ((300.0, 300.0), (600.0, store.lock_timeout)):
            item = await provider.fetch_work_item(lock_timeout, 0, store.handlers)
            assert item is not None
            await provider.renew_work_item_lock(item.token, shorter)
        assert await store.find_work() is None
        await store.locks_run_out()
        assert (await store.take_work()).item.step_execution_id == "Poll-2"
        assert await store.find_work() is None

    @case
    async def test_many_locks_are_renewed_at_once(self, store: Case) -> None:
        """Those that are gone are named, the others hold."""
        await store.start(steps=["Poll-1", "Poll-2", "Poll-3"])
        items = [await store.take_work() for _ in range(3)]
        await store.provider.ack_work_item(items[1].token)
        tokens = [item.token for item in items]
        dead = await store.provider.renew_work_item_locks(tokens, store.lock_timeout * 3)
        assert dead == {items[1].token}
        await store.locks_run_out()
        assert await store.find_work() is None

    @case
    async def test_a_work_item_cannot_be_renewed_after_its_ack(self, store: Case) -> None:
        """It is gone for good."""
        item = await store.started_work()
        await store.provider.ack_work_item(item.token)
        await lost(store.provider.renew_work_item_lock, item.token, 5.0)
        await lost(store.provider.ack_work_item, item.token)
        await store.locks_run_out()
        assert await store.find_work() is None

    @case
    async def test_what_a_closed_engine_held_is_delivered_again(self, store: Case) -> None:
        """At the latest when the lock runs out; a closed engine keeps nothing."""
        await store.start(steps=[POLL_1])
        await store.send()
        other = await store.second("engine-2")
        await store.take_work(other)
        await store.take_run(other)
        await other.close()
        await store.locks_run_out()
        assert (await store.take_work()).deliveries == 2
        assert (await store.take_run()).attempt_count == 2
