"""Chips: a Step's settings as small numbers under its name, told in full under the pointer."""

from __future__ import annotations

from typing import Any

from dexnb.graph.drawing import shapes
from dexnb.graph.drawing.blocks import Block, titled
from dexnb.graph.drawing.measure import text_width
from dexnb.model.budget import seconds_text
from dexnb.model.flow_graph import Node

_SIZE = 10.5
_PAD = 7.0
_HEIGHT = 18.0
_GAP = 5.0


def settings_chips(node: Node) -> Block | None:
    """Give the chips of a Step; None where nothing is known of its settings."""
    settings: dict[str, Any] = node.settings or {}
    if not settings:
        return None
    words = settings_words(settings)
    widths = [text_width(word, _SIZE) + 2 * _PAD for word in words]

    def draw(x: float, y: float, _width: float) -> str:
        parts = []
        for word, width in zip(words, widths, strict=True):
            parts.append(shapes.rect("p", x, y, width, _HEIGHT, _HEIGHT / 2))
            parts.append(shapes.text("s", x + width / 2, y + 12.5, word, middle=True))
            x += width + _GAP
        return "".join(parts)

    width = sum(widths) + _GAP * (len(widths) - 1)
    return titled(Block(_HEIGHT, width, draw), settings_text(settings))


def settings_words(settings: dict[str, Any]) -> list[str]:
    """Give a Step's settings as short words."""
    retry = settings["retry"]
    tries = retry["maximum_attempts"]
    words = [
        seconds_text(settings["execute_method_timeout"]),
        f"♥ {seconds_text(settings['heartbeat_timeout'])}",
        f"↻ {tries}" if tries else f"↻ {seconds_text(retry['total_duration'])}",
    ]
    if settings.get("durability") == "ASYNC" or settings.get("explicit_sync"):
        words.append(str(settings["durability"]))
    return words


def settings_text(settings: dict[str, Any]) -> str:
    """Say what each of a Step's settings is."""
    retry = settings["retry"]
    tries, total = retry["maximum_attempts"], seconds_text(retry["total_duration"])
    limit = f"{tries} attempts, and no retry after {total}"
    longest = seconds_text(settings["execute_method_timeout"])
    parts = [
        f"execute_method_timeout {longest}: one attempt at most",
        f"♥ heartbeat_timeout {seconds_text(settings['heartbeat_timeout'])}: silence at most",
        f"↻ execute_retry {limit if tries else f'{total}: no retry after that'}",
    ]
    if settings.get("durability") == "ASYNC":
        parts.append("ASYNC: acknowledged before it is on disk")
    elif settings.get("explicit_sync"):
        parts.append("SYNC: acknowledged when it is on disk, whatever the run says")
    return " · ".join(parts)
