"""How wide text is, without a font at hand: by the widths of DejaVu, wider than most others."""

from __future__ import annotations

import unicodedata
from typing import Literal

from dexnb.model.markup import printable

Face = Literal["sans", "bold", "mono"]

# Hundredths of the font size, from the space to the tilde.
_SANS = (
    "32 40 46 84 64 95 78 27 39 39 50 84 32 36 32 34 64 64 64 64 64 64 64 64 64 64 34 34 84 84 84 "
    "53 100 68 69 70 77 63 58 77 75 29 29 66 56 86 75 79 60 79 69 63 61 73 68 99 69 61 69 39 34 39 "
    "84 50 50 61 63 55 63 62 35 63 63 28 28 58 28 97 63 61 63 63 41 52 39 63 59 82 59 59 52 64 34 "
    "64 84"
)
_BOLD = (
    "35 46 52 84 70 100 87 31 46 46 52 84 38 42 38 37 70 70 70 70 70 70 70 70 70 70 40 40 84 84 84 "
    "58 100 77 76 73 83 68 68 82 84 37 37 77 64 100 84 85 73 85 77 72 68 81 77 110 77 72 73 46 37 "
    "46 84 50 50 67 72 59 72 68 44 72 71 34 34 67 34 104 71 69 72 72 49 60 48 71 65 92 65 65 58 71 "
    "37 71 84"
)


def _table(widths: str) -> dict[str, float]:
    return {chr(32 + at): int(width) / 100 for at, width in enumerate(widths.split())}


_WIDTHS: dict[Face, dict[str, float]] = {"sans": _table(_SANS), "bold": _table(_BOLD)}
_OTHER: dict[Face, float] = {"sans": 0.66, "bold": 0.74, "mono": 0.61}
_WIDE = 1.04
REPLACED = "\ufffd"
"""Stands where a letter cannot be shown; most fonts have it wide."""

_MOST_LETTERS = 400
_ROUNDING = 0.01


def letter_width(letter: str, face: Face = "sans") -> float:
    """Give how wide a letter is, as a share of the font size."""
    known = _WIDTHS.get(face, {}).get(letter)
    if known is not None:
        return known
    if letter == REPLACED:
        return _WIDE
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(letter) in ("W", "F"):
        return _WIDE
    return _OTHER[face]


def text_width(text: str, size: float, face: Face = "sans") -> float:
    """Give how wide a line of text is, in pixels."""
    return size * sum(letter_width(letter, face) for letter in text)


def fit_lines(text: str, room: float, size: float, most: int) -> list[str]:
    """Give at most `most` lines broken between words; the last one is cut where that is short."""
    words = printable(text, _MOST_LETTERS).split()
    lines: list[str] = []
    while words:
        if len(lines) == most - 1:
            return [*lines, fit(" ".join(words), room, size)]
        taken = 1
        while taken < len(words) and text_width(" ".join(words[: taken + 1]), size) <= room:
            taken += 1
        lines.append(fit(" ".join(words[:taken]), room, size))
        words = words[taken:]
    return lines


def fit(text: str, room: float, size: float, face: Face = "sans") -> str:
    """Give one line that is not wider than `room`; what is left out shows as an ellipsis."""
    line = printable(text, _MOST_LETTERS)
    if text_width(line, size, face) <= room + _ROUNDING:
        return line
    left = room / size - letter_width("…", face)
    for at, letter in enumerate(line):
        left -= letter_width(letter, face)
        if left < 0:
            return line[:at].rstrip() + "…"
    return line
