"""Reads a PNG of 8 bits a channel: just enough to look at the pixels that we drew."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

Pixel = tuple[int, ...]


def rows_of(data: bytes) -> list[list[Pixel]]:
    """Give the pixels, row by row."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks = list(_chunks(data))
    width, height, depth, colour = struct.unpack(">IIBB", chunks[0][1][:10])
    assert depth == 8
    channels = {2: 3, 6: 4}[colour]
    packed = zlib.decompress(b"".join(body for kind, body in chunks if kind == b"IDAT"))
    stride = width * channels
    above = bytearray(stride)
    rows = []
    for at in range(height):
        start = at * (stride + 1)
        line = bytearray(packed[start + 1 : start + 1 + stride])
        _undo(packed[start], line, above, channels)
        rows.append([tuple(line[x : x + channels]) for x in range(0, stride, channels)])
        above = line
    return rows


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        yield data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        at += length + 12


def _undo(kind: int, line: bytearray, above: bytearray, step: int) -> None:
    """Undo a row's filter, as the format's chapter 9 has them."""
    for at in range(len(line)):
        left = line[at - step] if at >= step else 0
        corner = above[at - step] if at >= step else 0
        guess = (0, left, above[at], (left + above[at]) // 2, _paeth(left, above[at], corner))[kind]
        line[at] = (line[at] + guess) & 255


def _paeth(left: int, up: int, corner: int) -> int:
    guess = left + up - corner
    return min((left, up, corner), key=lambda each: abs(guess - each))
