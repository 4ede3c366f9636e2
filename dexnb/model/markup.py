"""Text from outside inside markup: cut, cleaned and escaped, so that it stays text."""

from __future__ import annotations

import html
import re

_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
"""What XML forbids, and marks that turn the direction of what stands around them."""


def cut(text: str, limit: int) -> str:
    """Give one line of at most `limit` characters; what is left out shows as an ellipsis."""
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit and len(text) <= 4 * limit else f"{line[: limit - 1]}…"


def printable(text: str, limit: int = 200) -> str:
    """Give one line of text whose every character shows and turns no other around."""
    return _UNPRINTABLE.sub("\ufffd", cut(text, limit))


def escaped(text: str, limit: int = 200) -> str:
    """Give text for an element or an attribute of HTML, SVG or XML."""
    return html.escape(printable(text, limit), quote=True)
