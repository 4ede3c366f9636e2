"""Checkpoints: fenced by the lock token, kept over redelivery, with three states."""

from __future__ import annotations

from dexnb.providers import Beat
from dexnb.testing.conformance.case import POLL_1, Case, case


class TestCheckpoints:
    """`record_beats` and where its values go."""

    @case
    async def test_an_attempt_without_beats_has_no_checkpoint(self, store: Case) -> None:
        """Absent is not null."""
        assert (await store.started_work()).item.checkpoint is None

    @case
    async def test_a_checkpoint_survives_a_hand_back(self, store: Case) -> None:
        """The next attempt goes on from it."""
        item = await store.started_work()
        assert await store.provider.record_beats([Beat(item.token, '{"seen":7}')]) == frozenset()
        await store.provider.abandon_work_item(item.token)
        assert (await store.take_work()).item.checkpoint == '{"seen":7}'

    @case
    async def test_a_checkpoint_survives_a_silent_holder(self, store: Case) -> None:
        """A lock that runs out takes nothing away."""
        item = await store.started_work()
        await store.provider.record_beats([Beat(item.token, "7")])
        await store.locks_run_out()
        other = await store.second()
        assert (await store.take_work(other)).item.checkpoint == "7"

    @case
    async def test_the_newest_checkpoint_counts(self, store: Case) -> None:
        """Over calls, and within one call."""
        item = await store.started_work()
        await store.provider.record_beats([Beat(item.token, "1")])
        await store.provider.record_beats(
            [Beat(item.token, str(number)) for number in range(2, 51)]
        )
        await store.provider.abandon_work_item(item.token)
        assert (await store.take_work()).item.checkpoint == "50"

    @case
    async def test_value_null_and_nothing_are_three_states(self, store: Case) -> None:
        """A beat with None clears the value; a JSON null is a value."""
        await store.start(steps=[POLL_1])
        for checkpoint in ("7", "null", None, "null", None, "0", '""'):
            item = await store.take_work()
            await store.provider.record_beats([Beat(item.token, checkpoint)])
            await store.provider.abandon_work_item(item.token)
            item = await store.take_work()
            assert item.item.checkpoint == checkpoint
            await store.provider.abandon_work_item(item.token)

    @case
    async def test_a_dead_token_records_nothing(self, store: Case) -> None:
        """An expired attempt does not overwrite the checkpoint of the one that follows."""
        first = await store.started_work()
        await store.provider.record_beats([Beat(first.token, "1")])
        await store.locks_run_out()
        assert await store.provider.record_beats([Beat(first.token, "2")]) == {first.token}
        second = await store.take_work()
        assert second.item.checkpoint == "1"
        await store.provider.record_beats([Beat(second.token, "3")])
        assert await store.provider.record_beats([Beat(first.token, "4")]) == {first.token}
        await store.provider.abandon_work_item(second.token)
        assert (await store.take_work()).item.checkpoint == "3"

    @case
    async def test_one_dead_token_does_not_spoil_a_batch(self, store: Case) -> None:
        """The live ones are recorded, the dead ones are named."""
        await store.start(steps=["Poll-1", "Poll-2"])
        items = [await store.take_work() for _ in range(2)]
        beats = [Beat(items[0].token, "1"), Beat("no token", "x"), Beat(items[1].token, "2")]
        assert await store.provider.record_beats(beats) == {"no token"}
        for item in items:
            await store.provider.abandon_work_item(item.token)
        assert [(await store.take_work()).item.checkpoint for _ in range(2)] == ["1", "2"]

    @case
    async def test_no_beats_are_no_error(self, store: Case) -> None:
        """An empty batch answers with nobody lost."""
        assert await store.provider.record_beats([]) == frozenset()

    @case
    async def test_a_retry_carries_the_checkpoint_that_it_is_given(self, store: Case) -> None:
        """In the transaction that ends the failed attempt, over what was recorded before."""
        item = await store.started_work()
        await store.provider.record_beats([Beat(item.token, "1")])
        for checkpoint in ("50", "null", None):
            retry = store.work("a", attempt=2, checkpoint=checkpoint)
            await store.provider.ack_work_item(item.token, retry=retry)
            item = await store.take_work()
            assert item.item.checkpoint == checkpoint

    @case
    async def test_a_beat_does_not_renew_the_lock(self, store: Case) -> None:
        """Liveness of the Step and the lease of its engine are two things."""
        item = await store.started_work()
        await store.advance(store.lock_timeout * 0.6)
        await store.provider.record_beats([Beat(item.token, "1")])
        await store.advance(store.lock_timeout * 0.6)
        assert await store.provider.record_beats([Beat(item.token, "2")]) == {item.token}
