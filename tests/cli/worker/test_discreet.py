"""What of a text may stand in a log."""

from __future__ import annotations

import pytest

from dexnb.cli.worker.discreet import LONGEST, address, detail, discreet
from tests.model.logs import HOSTILE


@pytest.mark.parametrize(
    ("store", "expected"),
    [
        ("builds.db", "builds.db"),
        ("sqlite:///data/builds.db", "sqlite:///data/builds.db"),
        ("postgresql://me:pw@db.local:5432/dex", "postgresql://db.local:5432/dex"),
        ("postgresql://me:p@w@db/dex?password=pw", "postgresql://db/dex"),
        ("redis://:pw@cache:6379/0", "redis://cache:6379/0"),
        ("odd?name@.db", "odd?name@.db"),
    ],
)
def test_an_address_has_no_user_and_no_options(store: str, expected: str) -> None:
    """Host, port and path say enough."""
    assert address(store) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no route to host", "no route to host"),
        (
            "disk I/O error in /var/lib/dexnb-2026/w7.db",
            "disk I/O error in /var/lib/dexnb-2026/w7.db",
        ),
        ("at postgresql://me:pw@db/dex now", "at postgresql://<hidden>@db/dex now"),
        ("password=hunter2 refused", "password=<hidden> refused"),
        ('{"api_key": "k1", "state": "ok"}', '{"api_key": "<hidden>", "state": "ok"}'),
        ("Authorization: Bearer abc.def", "Authorization: <hidden> <hidden>"),
        ("got sk-abcdef, sorry", "got <hidden>, sorry"),
        ("key 9f8a7b6c5d4e3f2a1b0c9d8e", "key <hidden>"),
    ],
)
def test_what_looks_like_a_credential_is_hidden(text: str, expected: str) -> None:
    """By its name, its form, or its place in an address; all else stays."""
    assert discreet(text) == expected


def test_an_error_that_quotes_a_stored_value_is_not_quoted() -> None:
    """Its type and place say enough; the value is in the run's own log."""
    assert "stands" not in detail("dexnb.errors.ValueMappingError", "value must be int, stands 'x'")
    assert detail("builtins.ValueError", "too small") == "too small"


def test_any_text_becomes_one_short_line() -> None:
    """Whatever comes from outside."""
    assert discreet(HOSTILE).isprintable()
    assert len(discreet(HOSTILE)) <= LONGEST
