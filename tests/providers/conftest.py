"""What the tests of stores share: the memory store's factory for the conformance suite."""

from __future__ import annotations

import pytest

from dexnb.clock import Clock
from dexnb.providers import MemoryProvider, Provider
from dexnb.testing.conformance import ProviderFactory


class MemoryFactory(ProviderFactory):
    """Makes memory providers; breaks an event where the store keeps its text."""

    clock = Clock.virtual()
    provider_class: type[MemoryProvider] = MemoryProvider

    async def create(self) -> Provider:
        """Open a provider on a store of its own."""
        provider = self.provider_class()
        await provider.open(self.clock, "engine-1")
        return provider

    async def second(self, provider: Provider, owner: str, clock: Clock | None = None) -> Provider:
        """Open one more on the same store."""
        assert isinstance(provider, MemoryProvider)
        another = self.provider_class(provider.store)
        await another.open(clock or self.clock, owner)
        return another

    async def corrupt_event(self, provider: Provider, run_id: str, seq: int) -> None:
        """Cut the stored text."""
        assert isinstance(provider, MemoryProvider)
        events = provider.store.runs[run_id].events
        events[seq - 1] = events[seq - 1][:10]


@pytest.fixture
def memory_factory() -> MemoryFactory:
    """Give a factory of memory providers on the virtual clock."""
    return MemoryFactory()
