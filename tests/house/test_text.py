"""Nothing in the tree tells on which machine, or from which registry, it was made."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.tree import files, shown

RULES = {
    "machine path": re.compile(
        r"(?<![\w.~/-])/(?:work|root|home/\w+|Users/\w+|opt|mnt|usr/local)/[\w.]"
    ),
    "registry host": re.compile(
        r"\b(?:npmjs|pypi|pythonhosted|debian|yarnpkg|crates|anaconda)[a-z]*\.(?:org|com|io)\b"
    ),
    "unfinished": re.compile(r"\b(?:T[O]DO|FI[X]ME)\b"),
}
LOCK_NAMES = re.compile(r"(?:\.lock|lock\.json|lock\.yaml|constraints.*\.txt|requirements.*\.txt)$")
DOWNLOAD = re.compile(
    r"https?://\S+\.(?:tgz|whl|zip|tar\.\w+)|\"resolved\"\s*:\s*\"https?:"
    r"|--(?:extra-)?index-url|--find-links|\s@\s+(?:https?|file):"
)


def texts() -> Iterator[tuple[Path, str]]:
    """Give every file that is text, with its text."""
    for path in files():
        try:
            yield path, path.read_text("utf-8")
        except UnicodeDecodeError:
            continue


def matches(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, str]]:
    """Give line and words of each match."""
    for number, line in enumerate(text.splitlines(), start=1):
        for match in pattern.finditer(line):
            yield number, match.group()


@pytest.mark.parametrize("rule", RULES)
def test_no_file_tells_where_it_was_made(rule: str) -> None:
    """No machine path, no registry host and no note to finish something stands in the tree."""
    found = [
        f"{shown(path, line)} {words}"
        for path, text in texts()
        for line, words in matches(RULES[rule], text)
    ]
    assert found == []


def test_lock_files_hold_no_download_address() -> None:
    """A lock file pins names, versions and digests; the client knows where to ask."""
    locks = [(path, text) for path, text in texts() if LOCK_NAMES.search(path.name)]
    assert locks, "constraints.txt is gone"
    assert [f"{shown(p, n)} {w}" for p, text in locks for n, w in matches(DOWNLOAD, text)] == []


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("machine path", ("open('", "work", "main')")),
        ("machine path", ("see ", "root", ".cache")),
        ("machine path", ("", "home", "ada", "flows")),
        ("registry host", ("https:", "", "registry.npmjs{dot}org", "react")),
        ("registry host", ("files.pythonhosted{dot}org",)),
        ("unfinished", ("# {to}DO: the rest",)),
    ],
)
def test_what_tells_on_its_maker_is_found(rule: str, words: tuple[str, ...]) -> None:
    """Each rule finds its case; the cases are put together here, so that this file passes."""
    text = "/".join(words).format(dot=".", to="TO")
    assert list(matches(RULES[rule], text))


@pytest.mark.parametrize(
    "text", ["#!/usr/bin/env bash", "dexnb/work/item", "https://example.org/home/ada/x", "to do"]
)
def test_ordinary_text_passes(text: str) -> None:
    """No rule takes an address, a relative path or plain words for its case."""
    assert [name for name, pattern in RULES.items() if pattern.search(text)] == []


@pytest.mark.parametrize(
    "line",
    [
        '"resolved": "https://example.org/react"',
        "tarball: https://example.org/react-19.0.0.tgz",
        "rich @ https://example.org/rich",
        "--extra-index-url https://example.org/simple",
    ],
)
def test_a_download_address_is_found(line: str) -> None:
    """Each form in which a client writes where it asked is known."""
    assert list(matches(DOWNLOAD, line))
