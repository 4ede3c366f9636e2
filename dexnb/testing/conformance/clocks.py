"""A store belongs to one clock, and its time is the same for all who open it."""

from __future__ import annotations

from dexnb.clock import Clock
from dexnb.errors import ClockMismatch
from dexnb.testing.conformance.case import Case, case, refused


def _another(clock: Clock) -> Clock:
    return Clock.scaled(60) if clock.kind != "scaled" else Clock.real()


class TestClocks:
    """Clock identity and store time."""

    @case
    async def test_another_clock_is_refused(self, store: Case) -> None:
        """Scaled or virtual time never reaches a store of real time, nor the other way round."""
        other = _another(store.factory.clock)
        error = await refused(store.second, "engine-2", other)
        assert isinstance(error, ClockMismatch)
        assert store.factory.clock.identity in str(error)
        assert other.identity in str(error)

    @case
    async def test_a_closed_store_remembers_its_clock(self, store: Case) -> None:
        """Also when nobody has it open."""
        await store.provider.close()
        error = await refused(store.second, "engine-2", _another(store.factory.clock))
        assert isinstance(error, ClockMismatch)

    @case
    async def test_the_same_clock_is_welcome(self, store: Case) -> None:
        """Again after a close, with all that was kept."""
        await store.start()
        await store.provider.close()
        other = await store.second()
        assert await other.read_run(run_id="run-a") is not None

    @case
    async def test_engines_of_one_store_agree_on_the_time(self, store: Case) -> None:
        """For what is due and for locks."""
        await store.advance(0.2)
        other = await store.second()
        assert abs(other.clock.now() - store.provider.clock.now()) < 0.05
        assert abs(other.clock.lease() - store.provider.clock.lease()) < 0.05

    @case
    async def test_store_time_goes_on(self, store: Case) -> None:
        """It advances with the clock, and not back when the store is opened again."""
        before = store.provider.clock.now()
        await store.advance(0.2)
        await store.provider.close()
        other = await store.second()
        assert other.clock.now() >= before + 0.19
