"""Addresses of servers: what is read from them, and what is never shown of them."""

from __future__ import annotations

import asyncio
import builtins
import sys
from typing import Any

import pytest

import dexnb
from dexnb.clock import Clock
from dexnb.connect import provider_maker
from dexnb.errors import ClockMismatch, DefinitionError, ProviderError
from dexnb.providers.redis import RedisProvider
from dexnb.providers.redis.address import parse

SECRET = "s3cr3t/ü"
QUOTED = "s3cr3t%2F%C3%BC"


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("redis://host", "redis://host:6379/0"),
        (f"redis://user:{QUOTED}@host:7/3", "redis://host:7/3"),
        (f"rediss://:{QUOTED}@host?db=2", "rediss://host:6379/2"),
        ("valkey://[::1]:6380/0?prefix=lab", "valkey://[::1]:6380/0?prefix=lab"),
        (f"unix:///run/x.sock?db=1&password={QUOTED}", "unix:///run/x.sock?db=1"),
    ],
)
def test_an_address_is_shown_without_its_secrets(url: str, place: str) -> None:
    """By the provider, by the name of its session, and in every text made of it."""
    address = parse(url, "dexnb")
    assert address.secret in ("", SECRET)
    name, make = provider_maker(url)
    assert [address.place, str(name), f"{name}", make().place] == [place] * 4  # type: ignore[attr-defined]
    assert "s3cr3t" not in f"{address!r} {name!r} {make()!r}"


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("redis://:pa55/word@host", "cannot be read"),
        (f"redis://:{QUOTED}@host/x", "database is no number"),
        (f"redis://:{QUOTED}@host?colour=1", "'colour' is not known"),
        (f"redis://:{QUOTED}@host?socket_timeout=soon", "socket_timeout cannot be read"),
        (f"redis://:{QUOTED}@host?socket_timeout=0", "seconds above 0"),
        (f"redis://:{QUOTED}@host?prefix=a%7Bb", "prefix is"),
        ("unix://", "names no socket"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_by_name(url: str, text: str) -> None:
    """With what is wrong and what to give; nothing of the password is in it."""
    with pytest.raises(DefinitionError, match=text) as refusal:
        dexnb.open(url)
    assert "s3cr3t" not in str(refusal.value)
    assert "pa55" not in str(refusal.value)


def test_a_password_that_a_server_repeats_is_hidden() -> None:
    """An old server echoes what it does not understand."""

    async def old_server(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1000)
        writer.write(
            f"-ERR unknown command 'AUTH', with args beginning with: {SECRET}\r\n".encode()
        )
        await writer.drain()
        writer.close()

    async def body() -> ProviderError:
        async with await asyncio.start_server(old_server, "127.0.0.1") as server:
            port = server.sockets[0].getsockname()[1]
            with pytest.raises(ProviderError) as failure:
                await RedisProvider(f"redis://:{QUOTED}@127.0.0.1:{port}").open(Clock.real(), "e")
        return failure.value

    error = asyncio.run(body())
    assert "***" in str(error)
    assert SECRET not in f"{error!r} {error.__cause__!r} {error}"


def test_a_missing_package_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is opened."""
    for name in [name for name in sys.modules if name.startswith("dexnb.providers.redis")]:
        monkeypatch.delitem(sys.modules, name)
    importing = builtins.__import__

    def without(name: str, *arguments: Any, **options: Any) -> Any:
        if name.partition(".")[0] == "redis":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return importing(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(DefinitionError, match=r"pip install 'dexnb\[redis\]'"):
        dexnb.open("valkey://host")


@pytest.mark.parametrize("clock", [Clock.scaled(60), Clock.virtual()], ids=["scaled", "virtual"])
def test_a_clock_that_machines_cannot_share_is_refused_before_anything_is_asked(
    clock: Clock,
) -> None:
    """By name; nothing listens at this address."""

    async def body() -> None:
        with pytest.raises(ClockMismatch, match=clock.identity):
            await RedisProvider("redis://127.0.0.1:1").open(clock, "engine")

    clock.run(body())


def test_a_server_that_is_not_there_is_named() -> None:
    """As an error that may pass."""

    async def body() -> None:
        with pytest.raises(
            ProviderError, match=r"redis://127.0.0.1:1/0 cannot be reached"
        ) as caught:
            await RedisProvider("redis://127.0.0.1:1").open(Clock.real(), "engine")
        assert caught.value.retryable

    asyncio.run(body())
