"""A run has one turn at a time, with the messages that were there when it was fetched."""

from __future__ import annotations

import asyncio

from dexnb.testing.conformance.case import Case, case, lost, texts


class TestInstanceLocking:
    """The lock of a run and the messages under it."""

    @case
    async def test_a_locked_run_is_fetched_by_nobody(self, store: Case) -> None:
        """Not by its holder's engine and not by another, until the lock runs out."""
        item = await store.locked_run()
        other = await store.second()
        assert await store.find_run() is None
        assert await store.find_run(other) is None
        await store.locks_run_out()
        assert (await store.take_run(other)).token != item.token

    @case
    async def test_every_fetch_gives_a_token_of_its_own(self, store: Case) -> None:
        """Five locks have five tokens, over both queues and after a hand-back."""
        work = await store.started_work()
        tokens = {work.token}
        await store.send("a")
        for _ in range(4):
            item = await store.take_run()
            tokens.add(item.token)
            await store.provider.abandon_orchestration_item(item.token)
        assert len(tokens) == 5

    @case
    async def test_a_bogus_token_does_not_free_a_run(self, store: Case) -> None:
        """Ack and abandon under a wrong token leave the lock where it is."""
        item = await store.locked_run()
        await lost(store.provider.ack_orchestration_item, item.token + "x", store.turn(item))
        await lost(store.provider.abandon_orchestration_item, item.token + "x")
        assert await store.find_run() is None

    @case
    async def test_ten_concurrent_fetches_get_ten_runs(self, store: Case) -> None:
        """Nobody comes back empty, nobody gets what another has."""
        names = [f"n{number}" for number in range(10)]
        for name in names:
            await store.start(name)
            await store.send(name)
        items = await asyncio.gather(*(store.take_run() for _ in names))
        assert {item.run_id for item in items} == {f"run-{name}" for name in names}

    @case
    async def test_two_engines_never_share_a_run(self, store: Case) -> None:
        """Forty fetches of two engines over twenty runs give each run once."""
        other = await store.second()
        for number in range(20):
            await store.start(f"n{number}")
            await store.send(f"n{number}")
        fetches = [store.find_run(engine) for engine in (store.provider, other) * 20]
        found = [item.run_id for item in await asyncio.gather(*fetches) if item is not None]
        assert len(found) == len(set(found)) == 20

    @case
    async def test_of_ten_fetches_of_one_run_one_wins(self, store: Case) -> None:
        """The others find nothing."""
        await store.start()
        await store.send()
        found = await asyncio.gather(*(store.find_run() for _ in range(10)))
        assert sum(item is not None for item in found) == 1

    @case
    async def test_messages_under_the_lock_wait_for_the_next_turn(self, store: Case) -> None:
        """They cannot be fetched while the lock is held, and come in order after the ack."""
        item = await store.locked_run()
        await store.send("a", '"1"', '"2"', '"3"')
        assert await store.find_run() is None
        await store.provider.ack_orchestration_item(item.token, store.turn(item))
        assert texts(await store.take_run()) == ['"1"', '"2"', '"3"']

    @case
    async def test_an_expired_lock_gives_old_and_new_messages_in_order(self, store: Case) -> None:
        """The next holder gets what was fetched and what came since, oldest first."""
        await store.locked_run()
        await store.send("a", '"1"', '"2"', '"3"')
        await store.locks_run_out()
        assert texts(await store.take_run()) == ['"hello"', '"1"', '"2"', '"3"']

    @case
    async def test_an_ack_deletes_only_what_was_fetched(self, store: Case) -> None:
        """Two messages were fetched, the third arrives with the next turn."""
        await store.start()
        await store.send("a", '"1"', '"2"')
        item = await store.take_run()
        await store.send("a", '"3"')
        await store.provider.ack_orchestration_item(item.token, store.turn(item))
        item = await store.take_run()
        assert texts(item) == ['"3"']
        await store.provider.ack_orchestration_item(item.token, store.turn(item))
        assert await store.find_run() is None

    @case
    async def test_the_lock_of_one_run_does_not_hold_up_another(self, store: Case) -> None:
        """Turns of `b` go on while `a` is locked."""
        await store.locked_run("a")
        await store.start("b")
        for number in range(3):
            await store.send("b", f'"{number}"')
            item = await store.take_run()
            assert item.run_id == "run-b"
            await store.provider.ack_orchestration_item(item.token, store.turn(item))

    @case
    async def test_the_run_of_a_silent_holder_goes_to_another_engine(self, store: Case) -> None:
        """An engine that never acknowledges loses the run when its lock runs out."""
        item = await store.locked_run()
        other = await store.second()
        await store.locks_run_out()
        taken = await store.take_run(other)
        await lost(store.provider.ack_orchestration_item, item.token, store.turn(item))
        await other.ack_orchestration_item(taken.token, store.turn(taken))
        assert len(await other.read_events("run-a")) == 2

    @case
    async def test_a_delayed_hand_back_delays_only_what_was_fetched(self, store: Case) -> None:
        """A message that came under the lock is fetched at once, the others after the delay."""
        item = await store.locked_run()
        await store.send("a", '"late"')
        await store.provider.abandon_orchestration_item(item.token, 5.0)
        assert texts(await store.take_run()) == ['"late"']

    @case
    async def test_a_hand_back_without_count_touches_only_what_was_fetched(
        self, store: Case
    ) -> None:
        """The attempts of a message that is not due yet are not taken back."""
        await store.locked_run()
        await store.locks_run_out()
        item = await store.take_run()
        await store.send("a", '"late"')
        await store.provider.abandon_orchestration_item(item.token, ignore_attempt=True)
        item = await store.take_run()
        assert [message.attempt_count for message in item.messages] == [2, 1]
