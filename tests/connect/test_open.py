"""From an address to a runtime."""

from __future__ import annotations

import asyncio
import gc
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import dexnb
from dexnb import Clock, RuntimeOptions
from dexnb.connect import default_file
from dexnb.errors import DefinitionError
from dexnb.providers import MemoryProvider


def test_the_same_file_is_one_runtime_until_it_is_closed(tmp_path: Path) -> None:
    """By whatever path it is named; after that it is another one."""
    store = tmp_path / "store.db"
    first = dexnb.open(store)
    assert dexnb.open(tmp_path / "." / "store.db") is first
    assert dexnb.open(f"sqlite:///{store}") is first
    first.close()
    with dexnb.open(store) as second:
        assert second is not first
        # What is left of the first must not make the second forgotten.
        del first
        gc.collect()
        assert dexnb.open(store) is second


def test_other_options_for_an_open_file_are_refused(tmp_path: Path) -> None:
    """The same ones are not; the running ones stay."""
    lock = timedelta(seconds=7)
    given = RuntimeOptions(worker_lock_timeout=lock)
    with dexnb.open(tmp_path / "store.db", options=given) as runtime:
        again = RuntimeOptions(worker_lock_timeout=lock)
        assert dexnb.open(tmp_path / "store.db", options=again) is runtime
        with pytest.raises(DefinitionError, match="is open already, with other options"):
            dexnb.open(tmp_path / "store.db", options=RuntimeOptions())
        assert runtime.options.worker_lock_timeout == lock


def test_each_memory_store_is_one_of_its_own() -> None:
    """Nothing is shared between two of them."""
    with dexnb.open("memory:") as first, dexnb.open("memory:") as second:
        assert first is not second


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("mysql://host/db", "no store is known for mysql://"),
        ("sqlite://", "names no file"),
        (
            "redis:/0",
            r"redis:/\.\.\. looks like an address: give redis://host:6379/0, or \./redis:/\.\.\. f",
        ),
        ("postgresql:builds", "looks like an address: give postgresql://"),
        ("Redis:host", "looks like an address: give redis://"),
        ("mysql:/host/db", r"no store is known for mysql:/\.\.\.: give a file path"),
        ("HTTP://host", "no store is known for http://"),
        ("memory://", "no store is known for memory://"),
        ("", "names no file"),
    ],
)
def test_an_address_that_names_no_store_is_refused(
    address: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says what can be given."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DefinitionError, match=text):
        dexnb.open(address)


def test_each_clock_has_a_default_file_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Named after the notebook, whose path Jupyter's server tells."""
    monkeypatch.setenv("JPY_SESSION_NAME", "lessons/01 polling.ipynb")
    files = [default_file(clock) for clock in (Clock.real(), Clock.scaled(10), Clock.virtual())]
    assert files == [
        ".dexnb/01_polling.db",
        ".dexnb/01_polling-scaled-10.db",
        ".dexnb/01_polling-virtual.db",
    ]


@pytest.mark.parametrize("options", [5, 0, "", {}, []])
def test_options_that_are_none_are_refused_by_name(options: Any) -> None:
    """Also those that are empty, which stand for no default."""
    text = "options is .*: give RuntimeOptions"
    for make in (dexnb.open, dexnb.Runtime):
        with pytest.raises(DefinitionError, match=text):
            make("memory:", options=options)
    with pytest.raises(DefinitionError, match=text):
        dexnb.engine.Session(MemoryProvider, options=options)


def test_an_address_of_any_length_gives_a_short_text() -> None:
    """What no store is known for is named in short."""
    with pytest.raises(DefinitionError, match="no store is known for x") as caught:
        dexnb.open(f"{'x' * 100_000}://host")
    assert len(str(caught.value)) < 300


def test_a_file_with_a_colon_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what begins as an address is taken for one."""
    monkeypatch.chdir(tmp_path)
    for name in ("at 12:30.db", "./redis:x.db"):
        dexnb.open(name).close()
        assert Path(name).is_file()


def test_a_runtime_shows_its_store(tmp_path: Path) -> None:
    """As a session does, and no password of an address."""

    async def shown_while_it_runs(runtime: dexnb.Runtime) -> str:
        async with runtime:
            return repr(runtime)

    store = tmp_path / "store.db"
    runtime = dexnb.Runtime(store)
    assert repr(runtime) == f"<dexnb runtime {store}, closed>"
    assert asyncio.run(shown_while_it_runs(runtime)) == f"<dexnb runtime {store}, open>"
    assert repr(runtime) == f"<dexnb runtime {store}, closed>"
    assert repr(dexnb.Runtime(MemoryProvider())) == "<dexnb runtime MemoryProvider, closed>"
    assert repr(dexnb.Runtime("memory:")) == "<dexnb runtime memory:, closed>"
    address = "postgresql://me:secret@host/db"
    assert "secret" not in repr(dexnb.Runtime(address))
    assert "postgresql://me@host/db" in repr(dexnb.Runtime(address))
