"""Where recovery leads: from Step to Step with the same input, to an end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol, get_args

from dexnb.errors import Problem
from dexnb.flow.handler import Handler
from dexnb.flow.shape import is_any, is_union, name_of, unwrap
from dexnb.model.settings import StepSettings


class Settled(Protocol):
    """A Step whose settings and form are known."""

    @property
    def handler(self) -> Handler:
        """How it is called."""

    @property
    def settings(self) -> StepSettings:
        """Its own settings."""

    @property
    def plan(self) -> dict[str, Any] | None:
        """Its own plan."""


def with_recovery_plan(settings: StepSettings, steps: Mapping[str, Settled]) -> StepSettings:
    """Give settings that say under which plan their recovery Step runs, and so on to the end.

    Where no options are given on the way, that is the Step's own plan.
    """
    target = None if settings.recovery is None else steps.get(settings.recovery)
    if target is None:
        return settings
    if settings.recovery_options is None:
        return replace(settings, recovery_plan=target.plan)
    inner = with_recovery_plan(StepSettings.from_json(settings.recovery_options), steps)
    return replace(settings, recovery_options=inner.to_json())


def recovery_problems(
    where: str, step_type: str, settings: StepSettings, steps: Mapping[str, Settled]
) -> Iterator[Problem]:
    """Check where a Step leads when no retry is left, and where that leads in turn.

    Args:
        where: What the problems name, `Flow.Step.recovery`.
        step_type: The Step.
        settings: What it runs under, its own or given to it.
        steps: The Flow's Steps.
    """
    given = steps[step_type].handler.input_type
    # Steps that were entered under settings of their own: the second time, it goes round for ever.
    entered = {step_type} if settings == steps[step_type].settings else set()
    while (target := settings.recovery) is not None:
        if target not in steps:
            names = ", ".join(sorted(name for name in steps if ":" not in name))
            yield Problem(where, target, f"add that Step to get_steps(); listed are {names}")
            return
        taken = steps[target].handler.input_type
        if not _takes(taken, given):
            fix = f"a recovery Step takes the same input: annotate it as {name_of(given)}"
            yield Problem(where, f"{target}(input: {name_of(taken)})", fix)
        if settings.recovery_options is not None:
            settings = StepSettings.from_json(settings.recovery_options)
            continue
        settings = steps[target].settings
        if target in entered:
            fix = "Steps must not recover to each other in a circle; end with another Step"
            yield Problem(where, target, fix)
            return
        entered.add(target)


def _takes(taken: Any, given: Any) -> bool:
    taken, given = unwrap(taken), unwrap(given)
    if taken == given or is_any(taken) or is_any(given):
        return True
    return is_union(taken) and set(_arms(given)) <= set(_arms(taken))


def _arms(type_: Any) -> tuple[Any, ...]:
    return get_args(type_) if is_union(type_) else (type_,)
