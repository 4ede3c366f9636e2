"""The faulty provider: which calls it strikes, how, and that it is a provider otherwise."""

from __future__ import annotations

import asyncio
import inspect
from dataclasses import replace

import pytest

from dexnb.clock import Clock
from dexnb.errors import DefinitionError, LeaseLost, ProviderError
from dexnb.providers import Commit, Handlers, MemoryProvider, NewMessage, NewWorkItem, Provider
from dexnb.testing import Fault, FaultyProvider

FIRST_TURN = Commit(
    "run-a",
    "flow-a",
    "Polling",
    "{}",
    "RUNNING",
    work_items=(NewWorkItem("run-a", "flow-a", "Polling", "Poll", "Poll-1", "{}"),),
)
HANDLERS = Handlers({"Polling/Poll"})


async def opened(*faults: Fault) -> FaultyProvider:
    """Open a memory provider with these faults."""
    provider = FaultyProvider(MemoryProvider(), faults)
    await provider.open(Clock.virtual(), "engine-1")
    return provider


def test_every_method_of_a_provider_is_passed_on() -> None:
    """None is left to the defaults of the contract, which would go past the store's own."""
    methods = {
        name
        for name, value in vars(Provider).items()
        if inspect.isfunction(value) and not name.startswith("_")
    }
    assert methods <= set(vars(FaultyProvider))


def test_a_fault_strikes_the_calls_it_names() -> None:
    """The second and third here; the others go through, and what they say is the store's."""

    async def main() -> None:
        provider = await opened(Fault("start_run", calls={2, 3}))
        assert (await provider.start_run(FIRST_TURN)).created
        for number in (2, 3):
            with pytest.raises(ProviderError, match=f"injected fault in call {number}") as error:
                await provider.start_run(FIRST_TURN)
            assert (error.value.operation, error.value.retryable) == ("start_run", True)
        assert not (await provider.start_run(FIRST_TURN)).created
        assert provider.calls["start_run"] == 4

    Clock.virtual().run(main())


def test_a_fault_without_calls_strikes_until_it_is_taken_away() -> None:
    """Faults come and go while the provider is in use."""

    async def main() -> None:
        provider = await opened(Fault("read_run", retryable=False))
        for _ in range(5):
            with pytest.raises(ProviderError) as error:
                await provider.read_run(run_id="run-a")
            assert not error.value.retryable
        provider.faults.clear()
        assert await provider.read_run(run_id="run-a") is None

    Clock.virtual().run(main())


def test_a_struck_call_does_not_reach_the_store() -> None:
    """Unless only its answer is to be lost."""

    async def main() -> None:
        provider = await opened(
            Fault("start_run", calls={1}), Fault("start_run", calls={2}, applied=True)
        )
        for there in (False, True):
            with pytest.raises(ProviderError):
                await provider.start_run(FIRST_TURN)
            assert (await provider.read_run(run_id="run-a") is not None) == there

    Clock.virtual().run(main())


def test_a_delay_takes_the_loops_time() -> None:
    """With an error or without one."""

    async def main() -> None:
        provider = await opened(
            Fault("start_run", retryable=None, delay=2.0),
            Fault("ack_work_item", calls={1}, delay=3.0),
        )
        loop = asyncio.get_running_loop()
        await provider.start_run(FIRST_TURN)
        assert loop.time() == 2.0
        item = await provider.fetch_work_item(30.0, 0, HANDLERS)
        assert item is not None
        with pytest.raises(ProviderError):
            await provider.ack_work_item(item.token)
        assert loop.time() == 5.0
        await provider.ack_work_item(item.token, NewMessage("run-a", "{}"))
        assert loop.time() == 5.0

    Clock.virtual().run(main())


def test_any_error_may_be_injected() -> None:
    """A lost lease here."""

    async def main() -> None:
        provider = await opened(
            Fault("renew_work_item_lock", error=LeaseLost("renew_work_item_lock", "t"))
        )
        with pytest.raises(LeaseLost):
            await provider.renew_work_item_lock("t", 5.0)

    Clock.virtual().run(main())


def test_a_misspelt_method_is_refused() -> None:
    """A fault that never strikes would make a test that cannot fail."""
    with pytest.raises(DefinitionError, match=r"Fault\.method is 'ack_work'"):
        Fault("ack_work")


def test_a_lease_may_run_out_just_before_a_call_that_is_about_it() -> None:
    """Truly, so that the store refuses the call and gives the item to the next who asks."""

    async def main() -> None:
        expires = Fault("ack_work_item", {1}, retryable=None, expires=True)
        provider = await opened(expires)
        await provider.start_run(FIRST_TURN)
        first = await provider.fetch_work_item(30.0, 0, HANDLERS)
        assert first is not None
        with pytest.raises(LeaseLost):
            await provider.ack_work_item(first.token)
        second = await provider.fetch_work_item(30.0, 0, HANDLERS)
        assert second is not None
        assert second.deliveries == 2
        await provider.ack_work_item(second.token)

    Clock.virtual().run(main())


def test_of_several_leases_the_first_runs_out() -> None:
    """The others of a renewal stay; the store says which one is gone."""

    async def main() -> None:
        provider = await opened(Fault("renew_work_item_locks", retryable=None, expires=True))
        items = tuple(
            NewWorkItem("run-a", "flow-a", "Polling", "Poll", f"Poll-{number}", "{}")
            for number in (1, 2)
        )
        await provider.start_run(replace(FIRST_TURN, work_items=items))
        fetched = await provider.fetch_work_items(30.0, 0, HANDLERS, 2)
        tokens = [work.token for work in fetched]
        assert await provider.renew_work_item_locks(tokens, 30.0) == {tokens[0]}
        await provider.ack_work_item(tokens[1])

    Clock.virtual().run(main())


def test_only_calls_about_leases_can_find_them_run_out() -> None:
    """On any other one the fault would do nothing."""
    with pytest.raises(DefinitionError, match=r"Fault\.expires is True for read_run"):
        Fault("read_run", expires=True)
