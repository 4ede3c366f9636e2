"""Ids inside decisions and waits, changed from one way of writing them to the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Ids = Mapping[str, str]


def with_ids(card: Mapping[str, Any], ids: Ids) -> dict[str, Any]:
    """Give what a decision or wait card holds with other ids; those without a new one stay."""
    made = dict(card)
    for name in ("targets", "checkedChannels"):
        if name in made:
            made[name] = [ids.get(each, each) for each in made[name]]
    if "cancellations" in made:
        made["cancellations"] = [_renamed(each, ("stepId",), ids) for each in made["cancellations"]]
    if "conditions" in made:
        keys = ("resourceId", "subFlowId")
        made["conditions"] = [_renamed(each, keys, ids) for each in made["conditions"]]
    return made


def _renamed(part: Mapping[str, Any], keys: tuple[str, ...], ids: Ids) -> dict[str, Any]:
    return {
        name: ids.get(value, value) if name in keys and isinstance(value, str) else value
        for name, value in part.items()
    }
