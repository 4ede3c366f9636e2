"""`Wait`: what a Step waits for between its wait_for and its execute."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from dexnb.errors import DefinitionError
from dexnb.flow.condition import Condition
from dexnb.model.shown import shown

WaitKind = Literal["skip", "all_of", "any_of", "any_combination_of"]

_MAKERS = "Timer.by_duration(...), a Channel's for_one() or SubFlow.run(...)"


@dataclass(frozen=True)
class ConditionCombination:
    """Conditions that must all be ready together; one of several in `Wait.any_combination_of`.

    Raises:
        DefinitionError: There is none, one is no Condition or has no id, or two have the same id.
    """

    conditions: tuple[Condition, ...]

    def __post_init__(self) -> None:
        """Refuse what no wait could hold."""
        owner = "ConditionCombination.of"
        _check_conditions(self.conditions, owner)
        for index, condition in enumerate(self.conditions):
            if not condition.condition_id:
                fix = "give it one, condition_id='...', because combinations tell them by id"
                raise DefinitionError(f"{owner} condition {index} has no id: {fix}")

    @classmethod
    def of(cls, *conditions: Condition) -> ConditionCombination:
        """Give a combination of these conditions, each with a `condition_id`."""
        return cls(conditions)


@dataclass(frozen=True)
class Wait:
    """What `Step.wait_for` returns; use its makers.

    Waiting is durable: it holds no thread, and goes on where it was after a restart.

    Args:
        kind: How the conditions belong together.
        conditions: Each one once, in order.
        combinations: Indexes of the conditions of each combination.

    Raises:
        DefinitionError: There is no condition, something is no Condition, or ids are duplicate.
    """

    kind: WaitKind
    conditions: tuple[Condition, ...] = ()
    combinations: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        """Refuse what could never be waited for."""
        if self.kind not in _OWNERS:
            fix = f"use {', '.join(_OWNERS.values())}"
            raise DefinitionError(f"Wait kind is {shown(self.kind)}: {fix}")
        if self.kind != "skip":
            _check_conditions(self.conditions, _OWNERS[self.kind])

    @classmethod
    def skip_immediately(cls) -> Wait:
        """Wait for nothing: execute follows at once."""
        return cls("skip")

    @classmethod
    def until(cls, condition: Condition) -> Wait:
        """Wait for one condition."""
        _check_conditions((condition,), "Wait.until")
        return cls("all_of", (condition,))

    @classmethod
    def all_of(cls, *conditions: Condition) -> Wait:
        """Wait until all are ready."""
        return cls("all_of", conditions)

    @classmethod
    def any_of(cls, *conditions: Condition) -> Wait:
        """Wait until one is ready.

        Where several are, the first Timer wins before Channels, these before SubFlows, and only
        the winner consumes messages.
        """
        return cls("any_of", conditions)

    @classmethod
    def any_combination_of(cls, *combinations: ConditionCombination) -> Wait:
        """Wait until all conditions of one combination are ready.

        A condition may stand in several: the same object, or an equal one of the same id.
        """
        conditions = tuple(_distinct(combinations))
        index = {each.condition_id: number for number, each in enumerate(conditions)}
        indexes = (
            tuple(index[each.condition_id] for each in one.conditions) for one in combinations
        )
        return cls("any_combination_of", conditions, tuple(indexes))


_OWNERS: dict[WaitKind, str] = {
    "skip": "Wait.skip_immediately",
    "all_of": "Wait.all_of",
    "any_of": "Wait.any_of",
    "any_combination_of": "Wait.any_combination_of",
}


def _check_conditions(conditions: tuple[Condition, ...], owner: str) -> None:
    if not conditions:
        fix = "ConditionCombination.of(...)" if owner == _OWNERS["any_combination_of"] else _MAKERS
        instead = ", or use Wait.skip_immediately()" if owner.startswith("Wait") else ""
        raise DefinitionError(f"{owner} has no Condition: give {fix}{instead}")
    ids: set[str] = set()
    for condition in conditions:
        if not isinstance(condition, Condition):
            raise DefinitionError(f"{owner} got {shown(condition)}: {_instead_of(condition)}")
        name = condition.condition_id
        if name and name in ids:
            fix = "give each condition of a Wait an id of its own"
            raise DefinitionError(f"{owner} has two conditions of the id {shown(name)}: {fix}")
        ids.add(name)


def _instead_of(given: Any) -> str:
    if isinstance(given, list | tuple):
        return "give the conditions one by one, without brackets"
    if isinstance(given, ConditionCombination):
        return "use Wait.any_combination_of(...) for combinations"
    return f"give a Condition: {_MAKERS}"


def _distinct(combinations: Iterable[ConditionCombination]) -> Iterable[Condition]:
    """Give each condition of the combinations once, in order."""
    owner = "Wait.any_combination_of"
    found: dict[str, Condition] = {}
    for combination in combinations:
        if not isinstance(combination, ConditionCombination):
            fix = "give ConditionCombination.of(...)"
            raise DefinitionError(f"{owner} got {shown(combination)}: {fix}")
        for condition in combination.conditions:
            known = found.setdefault(condition.condition_id, condition)
            if known is not condition and known != condition:
                fix = "make the condition once and use it in both, or give it another id"
                name = shown(condition.condition_id)
                raise DefinitionError(f"{owner} has two conditions of the id {name}: {fix}")
    return found.values()
