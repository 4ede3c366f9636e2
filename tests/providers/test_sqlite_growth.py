"""How large the file and its log become, whatever is written and whoever reads."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

from dexnb.providers import Beat, StreamWrite
from dexnb.providers.sqlite import SqliteProvider
from tests.providers.sqlite_case import HANDLERS, LONG, companions, opened, raw, start, take


def test_the_log_stays_small_while_others_read(tmp_path: Path) -> None:
    """Twenty thousand beats beside look-ups all the time: under 16 MB, and gone after close."""
    path = tmp_path / "x.db"
    log = path.with_name("x.db-wal")
    largest = 0

    async def body() -> None:
        nonlocal largest
        async with opened(path, "writer") as writer, opened(path, "viewer") as viewer:
            await asyncio.gather(*(start(writer, str(number)) for number in range(200)))
            items = await writer.fetch_work_items(LONG, 0, HANDLERS, 200)
            for number in range(100):
                beats = [Beat(item.token, f'{{"seen":{number}}}') for item in items]
                beating = asyncio.ensure_future(writer.record_beats(beats))
                assert len(await viewer.list_runs(limit=200)) == 200
                await viewer.read_events("run-1")
                await beating
                largest = max(largest, log.stat().st_size)

    asyncio.run(body())
    assert 0 < largest < 16_000_000
    assert not any(companions(path).values())


async def _write(provider: SqliteProvider, count: int) -> None:
    """Write half a megabyte so many times."""
    write = StreamWrite("Flow", "log", "f", "r", "s", "x" * 50_000, 1e9, 10**7)
    for _ in range(count):
        await provider.write_stream([write] * 10)


def test_readers_without_a_pause_do_not_let_the_log_grow(tmp_path: Path) -> None:
    """Two foreign readers take turns, so that one of them always reads; the log is cut."""
    path = tmp_path / "x.db"

    async def read(turns: tuple[sqlite3.Connection, sqlite3.Connection]) -> None:
        reading, next_one = turns
        while True:
            next_one.execute("BEGIN")
            next_one.execute("SELECT count(*) FROM runs").fetchall()
            if reading.in_transaction:
                reading.execute("COMMIT")
            reading, next_one = next_one, reading
            await asyncio.sleep(0.003)

    async def body() -> None:
        async with opened(path) as provider:
            with raw(path) as one, raw(path) as two:
                readers = asyncio.ensure_future(read((one, two)))
                await _write(provider, 100)
                assert path.with_name("x.db-wal").stat().st_size < 16_000_000
                readers.cancel()

    asyncio.run(body())


def test_the_log_shrinks_once_a_foreign_reader_has_gone(tmp_path: Path) -> None:
    """A query left open in another program lets it grow; afterwards it is cut."""
    path = tmp_path / "x.db"
    log = path.with_name("x.db-wal")

    async def body() -> None:
        async with opened(path) as provider:
            await start(provider, "a")
            reader = sqlite3.connect(path, isolation_level=None)
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM runs").fetchall()
            await _write(provider, 40)
            assert log.stat().st_size > 16_000_000
            reader.close()
            await _write(provider, 40)
            assert log.stat().st_size < 16_000_000

    asyncio.run(body())
    assert not any(companions(path).values())


def test_beats_do_not_grow_the_file(tmp_path: Path) -> None:
    """A poll of ten thousand unchanged rounds leaves a checkpoint, not a history."""
    path = tmp_path / "x.db"

    async def body() -> None:
        async with opened(path) as provider:
            await start(provider, "a")
            item = await take(provider)
            for first in range(0, 10_000, 500):
                await asyncio.gather(
                    *(
                        provider.record_beats([Beat(item.token, f'{{"seen":{number}}}')])
                        for number in range(first, first + 500)
                    )
                )
            assert len(await provider.read_events("run-a")) == 1
            await provider.abandon_work_item(item.token)
            assert (await take(provider)).item.checkpoint == '{"seen":9999}'

    asyncio.run(body())
    assert path.stat().st_size < 200_000
