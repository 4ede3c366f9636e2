"""From bytes to text: which files are read at all, and in which encoding."""

from __future__ import annotations

import io
import stat
import tokenize
from pathlib import Path

MOST_BYTES = 1_000_000
"""Larger files are refused: no source is that large, and none may stall a linter."""

_ENCODINGS = frozenset(
    {"utf-8", "utf-8-sig", "ascii", "us-ascii", "iso-8859-1", "iso-8859-15", "cp1252", "latin-1"}
)


class UnreadableText(Exception):
    """A file cannot be read as source; the text says why and what to do."""


def read_text(path: Path) -> str:
    """Give a file's text, its line ends made `\\n`.

    Raises:
        UnreadableText: It is no plain file, is too large, or is in an encoding that is not read.
    """
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise UnreadableText("is no plain file")
        if found.st_size > MOST_BYTES:
            raise UnreadableText(_too_large(found.st_size))
        return decoded(path.read_bytes())
    except OSError as error:
        raise UnreadableText(f"cannot be read: {error.strerror or error}") from error


def decoded(data: bytes) -> str:
    """Give the text of bytes, as Python takes them.

    Raises:
        UnreadableText: They are too many, or in an encoding that is not read.
    """
    if len(data) > MOST_BYTES:
        raise UnreadableText(_too_large(len(data)))
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        if encoding not in _ENCODINGS:
            # Some codecs take time that grows with the square of what they are given.
            raise UnreadableText(f"is in the encoding {encoding}: save it as UTF-8")
        text = data.decode(encoding)
    except (SyntaxError, ValueError, LookupError) as error:
        raise UnreadableText(f"cannot be decoded ({error}): save it as UTF-8") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def checked(text: str) -> str:
    """Give a text that is not too large.

    Raises:
        UnreadableText: It is.
    """
    if len(text) > MOST_BYTES:
        raise UnreadableText(_too_large(len(text)))
    return text


def _too_large(size: int) -> str:
    return (
        f"has {size} bytes, more than the {MOST_BYTES} of a source that is read: move data out of "
        "it into a file of its own"
    )
