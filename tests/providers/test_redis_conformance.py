"""The Redis provider under the conformance suite, on a real server."""

from __future__ import annotations

import pytest

from dexnb.clock import Clock
from dexnb.providers import Provider
from dexnb.providers.redis import RedisProvider
from dexnb.testing.conformance import *  # noqa: F403  this is how the suite is used
from tests.providers.redis_case import opened, raw
from tests.providers.redis_server import server_fixture, url_fixture  # noqa: F401  fixtures

pytestmark = pytest.mark.external("redis")


class RedisFactory(ProviderFactory):  # noqa: F405  from the suite
    """Makes Redis providers on prefixes of their own; breaks an event behind their back."""

    # Real seconds are waited for: as few as a busy machine allows.
    lock_timeout = 0.4
    short_poll_threshold = 0.15

    def __init__(self, address: str) -> None:
        """Use one prefix."""
        self.url = address

    async def create(self) -> Provider:
        """Open a provider."""
        return await opened(self.url, "engine-1", self.clock)

    async def second(self, provider: Provider, owner: str, clock: Clock | None = None) -> Provider:
        """Open one more on the same prefix."""
        return await opened(self.url, owner, clock or self.clock)

    async def corrupt_event(self, provider: Provider, run_id: str, seq: int) -> None:
        """Cut the stored text."""
        assert isinstance(provider, RedisProvider)
        run = (await raw(self.url, "HGET", "numbers", run_id)).decode()
        text = await raw(self.url, "LINDEX", f"events:{run}", seq - 1)
        await raw(self.url, "LSET", f"events:{run}", seq - 1, text[:10])


@pytest.fixture
def provider_factory(url: str) -> RedisFactory:
    """Give the factory that the suite asks for."""
    return RedisFactory(url)
