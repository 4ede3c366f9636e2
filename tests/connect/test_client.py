"""Clients by an address: what they open, what they share, and when that ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

import dexnb
from dexnb.engine import Client, Session
from dexnb.errors import DefinitionError, FlowDefinitionError, RuntimeClosed
from dexnb.providers import MemoryProvider
from tests.engine.orders import Order

ORDER = Order()


def test_a_client_closes_only_what_it_has_opened(tmp_path: Path) -> None:
    """A session that was given, or that was open on the same file before, goes on."""
    with Session(MemoryProvider) as session:
        dexnb.Client(session).close()
        assert session.is_open
    path = tmp_path / "runs.db"
    with dexnb.open(path) as session:
        dexnb.Client(path).close()
        assert session.is_open


def test_a_session_ends_with_the_last_client_that_uses_it(tmp_path: Path) -> None:
    """In whatever order they close, and however often; the next one opens the file anew."""
    path = tmp_path / "runs.db"
    first, second = dexnb.Client(path), dexnb.Client(path)
    first.close()
    first.close()
    assert second.health_check() is True
    second.close()
    with pytest.raises(RuntimeClosed):
        second.health_check()
    with dexnb.Client(path) as third:
        assert third.health_check() is True


def test_a_session_that_is_opened_later_outlives_the_client_that_opened_it_first(
    tmp_path: Path,
) -> None:
    """Whoever calls `open` decides when it ends, also if the client was there before."""
    path = tmp_path / "runs.db"
    client = dexnb.Client(path)
    with dexnb.open(path) as session:
        client.close()
        assert session.is_open
        assert session.runs() == []
        with pytest.raises(DefinitionError, match="with other options"):
            dexnb.open(path, options=dexnb.RuntimeOptions(worker_concurrency=1))


def test_a_refused_open_does_not_keep_a_client_s_session(tmp_path: Path) -> None:
    """Neither with other options, nor by another client with Flows that are none."""
    path, wrong = tmp_path / "runs.db", cast("Any", [Order])
    client = dexnb.Client(path)
    with pytest.raises(DefinitionError, match="with other options"):
        dexnb.open(path, options=dexnb.RuntimeOptions(worker_concurrency=1))
    with pytest.raises(FlowDefinitionError):
        dexnb.Client(path, flows=wrong)
    assert client.health_check() is True
    client.close()
    with pytest.raises(RuntimeClosed):
        client.health_check()


def test_a_client_refuses_what_is_no_flow() -> None:
    """The session that it had opened for itself is closed again."""
    wrong: Any = [Order]
    with pytest.raises(FlowDefinitionError, match=r"Order\(\)"):
        dexnb.Client("memory:", flows=wrong)


@pytest.mark.parametrize(
    ("flows", "text"),
    [
        (ORDER, r"flows is .*: give a list, flows=\[Order\(\)\]"),
        (Order, r"flows is .*: give a list, flows=\[Order\(\)\]"),
        (None, r"flows is None: give a list, flows=\[YourFlow\(\)\]"),
        ("Order", r"flows is 'Order': give a list"),
        (5, r"flows is 5: give a list"),
    ],
)
def test_flows_that_are_no_list_are_refused_by_name(flows: Any, text: str) -> None:
    """A single Flow too; the text says what to write."""
    with pytest.raises(DefinitionError, match=text):
        dexnb.Client("memory:", flows=flows)
    with Session(MemoryProvider) as session, pytest.raises(DefinitionError, match=text):
        Client(session, flows=flows)
