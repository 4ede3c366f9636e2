"""Opening a PostgreSQL store: addresses, versions of the tables, clocks, and odd names."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest

import dexnb
from dexnb.clock import Clock
from dexnb.connect import provider_maker
from dexnb.errors import ClockMismatch, DefinitionError, ProviderError
from dexnb.providers import NewMessage
from dexnb.providers.postgres import PostgresProvider
from dexnb.providers.postgres.failures import provider_error
from tests.providers.postgres_case import opened, start, take, take_run
from tests.providers.postgres_server import Server
from tests.providers.sqlite_case import commit, work

pytest_plugins = ["tests.providers.postgres_fixtures"]
external = pytest.mark.external("postgres")

SECRET = "s3cr3t/ü"
QUOTED = "s3cr3t%2F%C3%BC"
ODD = "a\0b \ud800 'c' \U0001f600"


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("postgresql://host/db", "postgresql://host/db?schema=dexnb"),
        (f"postgres://ann:{QUOTED}@host:7/db", "postgresql://ann@host:7/db?schema=dexnb"),
        (f"postgresql://ann@host/db?password={QUOTED}", "postgresql://ann@host/db?schema=dexnb"),
        ("postgresql://host/db?schema=lab&sslmode=require", "postgresql://host/db?schema=lab"),
    ],
)
def test_an_address_is_shown_without_its_secrets(url: str, place: str) -> None:
    """By the provider, by the name of its session, and in every text made of it."""
    provider = PostgresProvider(url)
    name, _ = provider_maker(url)
    assert [provider.place.name, str(name), f"{name}"] == [place] * 3
    assert "s3cr3t" not in f"{provider!r} {provider.place!r} {name!r}"


def test_a_password_that_somebody_repeats_is_hidden() -> None:
    """In the error that the caller sees."""
    place = PostgresProvider(f"postgres://ann:{QUOTED}@host/db").place
    told = provider_error("open", place, OSError(f"it said {SECRET}"))
    assert "it said ***" in str(told)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:pa55/word@host/db",
        "postgresql://ann:pa55@word@host/db",
        "postgresql://ann:pa55?word@host/db",
        "postgresql://ann:pa55#word@host/db",
        "postgresql://ann:pa55@host:word/db",
        "postgresql://ann:pa55",
        "postgresql://ann:pa55@host/db?colour=word",
    ],
)
def test_an_address_that_cannot_be_read_is_refused_without_being_repeated(url: str) -> None:
    """What cannot be read may be a part of the password."""
    with pytest.raises(DefinitionError, match=r"postgresql://user:password@host") as refusal:
        dexnb.open(url)
    assert "pa55" not in str(refusal.value)
    assert "word@" not in str(refusal.value).replace("password@", "")


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("schma=x", "parameter 'schma', which is unknown: give schema"),
        ("connect_timeot=5&schema=x", "'connect_timeot', which is unknown: give connect_timeout"),
        ("colour", "parameter 'colour', which is unknown: give schema or one of libpq's"),
    ],
)
def test_a_mistyped_parameter_is_named(query: str, text: str) -> None:
    """With what was meant, where that can be told; its value is not repeated."""
    with pytest.raises(DefinitionError, match=text) as refusal:
        dexnb.open(f"postgresql://ann:pa55@host/db?{query}")
    assert "pa55" not in str(refusal.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:pa55?word",
        "postgresql://ann:pa55?word=5@host/db",
        "postgresql://ann:pa55?Word!=5",
        "postgresql://ann@host/db?pa55 word",
    ],
)
def test_what_may_be_a_password_is_no_parameter(url: str) -> None:
    """A question mark in it must be written otherwise; the rest is not repeated."""
    with pytest.raises(DefinitionError, match="cannot be read: write") as refusal:
        dexnb.open(url)
    assert "word" not in str(refusal.value).lower().replace("password", "")


@pytest.mark.parametrize("schema", ["", "pg_catalog", "x" * 49, "a\nb", 5])
def test_a_schema_that_cannot_be_one_is_refused_by_name(schema: Any) -> None:
    """With the value and the fix."""
    with pytest.raises(DefinitionError, match=r"schema is .*: give a name of 1 to 48 bytes"):
        PostgresProvider("postgresql://host/db", schema)


def test_a_missing_client_is_named_with_what_to_install() -> None:
    """In a Python that has no psycopg."""
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "import dexnb\n"
        "try: dexnb.open('postgresql://ann:pa55@host/db')\n"
        "except dexnb.errors.DefinitionError as error: print(error)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'dexnb[postgres]'" in told.stdout
    assert "pa55" not in told.stdout


@pytest.mark.parametrize("clock", [Clock.virtual(), Clock.scaled(10)])
def test_time_that_is_not_real_is_refused(clock: Clock) -> None:
    """Other machines could not follow it; before anything is connected."""
    with pytest.raises(ClockMismatch, match=clock.identity):
        clock.run(PostgresProvider("postgresql://127.0.0.1:1/db").open(clock, "engine"))


@external
@pytest.mark.parametrize(
    ("change", "retryable", "text"),
    [
        (":1/postgres", True, "cannot be reached; check that the server runs"),
        ("/nowhere", False, "does not exist; create the database"),
    ],
)
def test_what_cannot_be_opened_says_why(
    postgres_server: Server, change: str, retryable: bool, text: str
) -> None:
    """And whether to try again."""
    host = f"127.0.0.1:{postgres_server.port}"
    url = postgres_server.url().replace(
        f"{host}/postgres", "127.0.0.1:1/postgres" if retryable else f"{host}/nowhere"
    )
    with pytest.raises(ProviderError, match=text) as refusal:
        asyncio.run(PostgresProvider(url).open(Clock.real(), "engine"))
    assert refusal.value.retryable is retryable


@external
def test_engines_that_come_together_make_the_tables_once(new_postgres_url: str) -> None:
    """Six at once on a schema that does not exist, and one more later."""

    async def body() -> None:
        providers = [PostgresProvider(new_postgres_url) for _ in range(6)]
        await asyncio.gather(*(each.open(Clock.real(), "engine") for each in providers))
        await start(providers[0], "a")
        await asyncio.gather(*(each.close() for each in providers))
        async with opened(new_postgres_url) as provider:
            assert (await take(provider)).item.run_id == "run-a"

    asyncio.run(body())


@external
@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("CREATE TABLE {schema}.mine (x int)", "is a schema of another program"),
        (
            "CREATE TABLE {schema}.dexnb_versions AS SELECT 99::int8 AS version",
            "has tables of version 99, this dexnb knows version 1; install a newer dexnb",
        ),
        *(
            (
                f"CREATE TABLE {{schema}}.dexnb_versions AS SELECT {version} AS version",
                f"its table dexnb_versions gives {said} as the newest version.*put back a copy",
            )
            for version, said in [
                ("0::int8", "0"),
                ("-1::int8", "-1"),
                ("NULL::int8", "nothing"),
                ("1.5::numeric", "Decimal.*"),
                ("'one'::text", "'one'"),
                ("now()", "datetime.*"),
            ]
        ),
        (
            "CREATE TABLE {schema}.dexnb_versions (version int8)",
            "its table dexnb_versions gives nothing as the newest version",
        ),
        (
            "CREATE TABLE {schema}.dexnb_versions (name text)",
            "dexnb_versions is another program's.*give another schema",
        ),
        (
            "CREATE TABLE {schema}.dexnb_versions AS SELECT true AS version",
            "dexnb_versions is another program's.*give another schema",
        ),
        (
            "CREATE SEQUENCE {schema}.dexnb_versions",
            "dexnb_versions is another program's.*give another schema",
        ),
    ],
)
def test_tables_that_are_not_ours_are_left_alone(
    postgres_server: Server, new_postgres_url: str, statement: str, text: str
) -> None:
    """Those of another program, and those of a newer version."""
    schema = new_postgres_url.rpartition("=")[2]
    postgres_server.run(f"CREATE SCHEMA {schema}; {statement.format(schema=schema)}")
    with pytest.raises(ProviderError, match=text) as refusal:
        asyncio.run(PostgresProvider(new_postgres_url).open(Clock.real(), "engine"))
    assert not refusal.value.retryable


@external
def test_a_dropped_schema_is_named(postgres_server: Server, new_postgres_url: str) -> None:
    """Not retryable: it does not come back by itself."""
    schema = new_postgres_url.rpartition("=")[2]

    async def body() -> None:
        async with opened(new_postgres_url) as provider:
            await start(provider, "a")
            postgres_server.run(f"DROP SCHEMA {schema} CASCADE")
            for call in (provider.start_run(commit("b")), provider.list_runs()):
                with pytest.raises(ProviderError, match="dropped while it was in use") as refusal:
                    await call
                assert not refusal.value.retryable

    asyncio.run(body())


@external
def test_names_and_texts_of_any_letters_come_back(postgres_url: str) -> None:
    """NUL and half a surrogate pair too, which PostgreSQL's own text refuses."""

    async def body() -> None:
        async with opened(postgres_url) as provider:
            name = f"odd {ODD}"
            item = work(name, f"{ODD}-1", payload=ODD, checkpoint=ODD)
            assert (await provider.start_run(commit(name, work_items=(item,)))).created
            await provider.enqueue_for_orchestrator(NewMessage(f"run-{name}", ODD))
            run = await take_run(provider)
            assert (run.flow_id, run.messages[0].text) == (f"flow-{name}", ODD)
            taken = (await take(provider)).item
            assert (taken.step_execution_id, taken.payload) == (f"{ODD}-1", ODD)
            assert taken.checkpoint == ODD
            record = await provider.read_run(flow_id=f"flow-{name}")
            assert record is not None
            assert record.run_id == f"run-{name}"

    asyncio.run(body())


@external
def test_a_name_that_no_index_can_hold_is_refused_for_good(postgres_url: str) -> None:
    """By what it is, and the neighbours in the same batch are not."""

    async def body() -> None:
        async with opened(postgres_url) as provider:
            # Without a pattern, for PostgreSQL compresses.
            long = "".join(chr(0x100 + number * 7919 % 50_000) for number in range(5000))
            long = long.encode("utf-8", "ignore").decode()
            answers = await asyncio.gather(
                provider.start_run(commit("a")),
                provider.start_run(commit(long)),
                provider.start_run(commit("b")),
                return_exceptions=True,
            )
            assert isinstance(answers[1], ProviderError)
            assert not answers[1].retryable
            assert "cannot keep a name so long" in str(answers[1])
            assert {run.run_id for run in await provider.list_runs()} == {"run-a", "run-b"}

    asyncio.run(body())
