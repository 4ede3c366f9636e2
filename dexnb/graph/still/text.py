"""From bytes to text: which files are read at all, and in which encoding."""

from __future__ import annotations

import io
import stat
import tokenize
from pathlib import Path

MOST_BYTES = 1_000_000
"""Larger files are refused: no source is that large, and none may stall a linter."""

MOST_NOTEBOOK_BYTES = 50_000_000

_ENCODINGS = frozenset(
    {"utf-8", "utf-8-sig", "ascii", "us-ascii", "iso-8859-1", "iso-8859-15", "cp1252", "latin-1"}
)


class UnreadableText(Exception):
    """A file cannot be read as source; the text says why and what to do."""


def most_bytes(path: str) -> int:
    """Give how large a file of this name may be; a notebook holds pictures too."""
    return MOST_NOTEBOOK_BYTES if path.endswith(".ipynb") else MOST_BYTES


def read_text(path: Path, most: int = MOST_BYTES) -> str:
    """Give a file's text, its line ends made those of Python.

    Raises:
        UnreadableText: It is no plain file, is too large, or is in an encoding that is not read.
    """
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise UnreadableText("is no plain file")
        if found.st_size > most:
            raise UnreadableText(_too_large(found.st_size, most))
        data = path.read_bytes()
    except OSError as error:
        raise UnreadableText(f"cannot be read: {error.strerror or error}") from error
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        if encoding not in _ENCODINGS:
            # Some codecs take time that grows with the square of what they are given.
            raise UnreadableText(f"is in the encoding {encoding}: save it as UTF-8")
        text = data.decode(encoding)
    except (SyntaxError, ValueError, LookupError) as error:
        raise UnreadableText(f"cannot be decoded ({error}): save it as UTF-8") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def checked(text: str, most: int = MOST_BYTES) -> str:
    """Give a text that is not too large.

    Raises:
        UnreadableText: It is.
    """
    if len(text) > most:
        raise UnreadableText(_too_large(len(text), most))
    return text


def _too_large(size: int, most: int) -> str:
    return (
        f"has {size} bytes, more than the {most} of a source that is read: move data out of it "
        "into a file of its own"
    )
