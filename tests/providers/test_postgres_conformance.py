"""The PostgreSQL provider under the conformance suite, on the real clock."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import sql

from dexnb.clock import Clock
from dexnb.providers import Provider
from dexnb.providers.postgres import PostgresProvider
from dexnb.testing.conformance import *  # noqa: F403  this is how the suite is used

pytestmark = pytest.mark.external("postgres")
pytest_plugins = ["tests.providers.postgres_fixtures"]


class PostgresFactory(ProviderFactory):  # noqa: F405  from the suite
    """Makes PostgreSQL providers on a schema of their own; breaks an event in its table."""

    # Real seconds are waited for: as few as a busy machine allows.
    lock_timeout = 0.35
    short_poll_threshold = 0.2
    one_time = True

    def __init__(self, url: str) -> None:
        """Use a schema that nobody else uses."""
        self.url = url

    async def create(self) -> Provider:
        """Open a provider."""
        return await self._opened("engine-1", self.clock)

    async def second(self, provider: Provider, owner: str, clock: Clock | None = None) -> Provider:
        """Open one more on the same schema."""
        return await self._opened(owner, clock or self.clock)

    async def _opened(self, owner: str, clock: Clock) -> Provider:
        provider = PostgresProvider(self.url)
        await provider.open(clock, owner)
        return provider

    async def corrupt_event(self, provider: Provider, run_id: str, seq: int) -> None:
        """Cut the stored text."""
        assert isinstance(provider, PostgresProvider)
        place = provider.place
        async with await psycopg.AsyncConnection.connect(**place.options) as connection:
            path = sql.SQL("SET search_path = {}").format(sql.Identifier(place.schema))
            await connection.execute(path)
            await connection.execute(
                "UPDATE events SET text = substr(text, 1, 10) WHERE seq = %s "
                "AND run_no = (SELECT no FROM runs WHERE run_id = %s)",
                (seq, run_id.encode()),
            )


@pytest.fixture
def provider_factory(postgres_url: str) -> PostgresFactory:
    """Give the factory that the suite asks for."""
    return PostgresFactory(postgres_url)
