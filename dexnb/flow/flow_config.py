"""`FlowConfig`: what a run asks of the runtime as a whole."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

from dexnb.errors import DexnbWarning
from dexnb.flow.option_check import OptionCheck
from dexnb.flow.options import StepDurability

_MAKER = 3
"""Frames up from `__post_init__`, past `__init__`, to whoever makes a FlowConfig."""

_WITHOUT_EFFECT = {
    "active_step_search_mode": "runs are found by their Attributes alone",
    "continue_as_new_threshold": "histories here do not need it",
    "continue_as_new_page_size_bytes": "histories here do not need it",
    "worker_target": "Steps run in this process",
    "attribute_store_names": "this runtime has one store",
}


@dataclass(frozen=True)
class FlowConfig:
    """What a run asks of the runtime; everything left out has a default.

    Args:
        active_step_search_mode: Has no effect here; a warning says so.
        continue_as_new_threshold: Has no effect here; a warning says so.
        continue_as_new_page_size_bytes: Has no effect here; a warning says so.
        step_durability: How safely results are written by Steps that do not say it themselves.
        worker_target: Has no effect here; a warning says so.
        attribute_store_names: Has no effect here; a warning says so.
    """

    active_step_search_mode: Any = None
    continue_as_new_threshold: int | None = None
    continue_as_new_page_size_bytes: int | None = None
    step_durability: StepDurability | None = None
    worker_target: str | None = None
    attribute_store_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Warn where it is made: the line that must be changed."""
        for name, reason in _WITHOUT_EFFECT.items():
            if getattr(self, name) is not None:
                text = f"FlowConfig.{name} has no effect: {reason}; leave it out"
                warnings.warn(text, DexnbWarning, stacklevel=_MAKER)


def config_document(config: Any, check: OptionCheck, field: str) -> dict[str, Any]:
    """Give the plain form of a FlowConfig; None gives an empty one."""
    if not check.is_a(FlowConfig, field, config):
        return {}
    if config.step_durability is None:
        return {}
    member = check.member(
        f"{field}.step_durability", config.step_durability, StepDurability.DEFAULT
    )
    return {} if member is StepDurability.DEFAULT else {"step_durability": member.name}
