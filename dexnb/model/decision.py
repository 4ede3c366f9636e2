"""What a Step's end is made of, encoded: movements, decisions, failures."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args, overload

from dexnb.errors import DocumentError
from dexnb.model.json_text import Fields, check_choice, check_fields
from dexnb.model.settings import StepSettings

DecisionKind = Literal[
    "next",
    "graceful_complete",
    "force_complete",
    "force_complete_if_channels_empty",
    "force_fail",
    "dead_end",
]


@dataclass(frozen=True, slots=True)
class Movement:
    """A Step to schedule, encoded.

    Args:
        step_type: Its registered name.
        input: The input.
        options: The settings that replace its own.
        plan: What a turn must know of it, because turns have no user code: whether it waits first,
            what its methods lock and load; None for a Step that only executes.
    """

    step_type: str
    input: Any = None
    options: dict[str, Any] | None = None
    plan: dict[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """Give the plain JSON form; without a plan there is no such field."""
        document = {"step_type": self.step_type, "input": self.input, "options": self.options}
        if self.plan is not None:
            document["plan"] = self.plan
        return document


@dataclass(frozen=True, slots=True)
class Decision:
    """What a Step decided, encoded.

    Args:
        kind: What follows.
        movements: The Steps to schedule, for `next`.
        output: The encoded output, where `has_output`.
        has_output: Tells an explicit null from no output at all.
        reason: Why the Flow fails, for `force_fail`.
        empty_channels: Physical names that must be empty for a conditional completion.
        fallback: What follows if they are not.
        canceling_steps: Step types whose other executions are cancelled first.
        canceling_sibling_steps: The same, of those with the same origin only.
    """

    kind: DecisionKind
    movements: tuple[Movement, ...] = ()
    output: Any = None
    has_output: bool = False
    reason: str = ""
    empty_channels: tuple[str, ...] = ()
    fallback: Movement | None = None
    canceling_steps: tuple[str, ...] = ()
    canceling_sibling_steps: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Give the plain JSON form; what only some decisions have is left out of the others."""
        document: dict[str, Any] = {
            "kind": self.kind,
            "movements": [movement.to_json() for movement in self.movements],
            "output": self.output,
            "has_output": self.has_output,
            "reason": self.reason,
        }
        for name in _LISTS:
            if getattr(self, name):
                document[name] = list(getattr(self, name))
        if self.fallback is not None:
            document["fallback"] = self.fallback.to_json()
        return document


@dataclass(frozen=True, slots=True)
class Failure:
    """An error as it is stored.

    Args:
        error_type: `module.QualName` of an exception, or the name of a timeout.
        detail: Its text, or the timeout's sentence.
        last_error: The last error of the Step's own code, where this one is a timeout.
    """

    error_type: str
    detail: str
    last_error: Failure | None = None

    def to_json(self) -> dict[str, Any]:
        """Give the plain JSON form."""
        return asdict(self)


@overload
def movement_from(document: dict[str, Any]) -> Movement: ...


@overload
def movement_from(document: dict[str, Any] | None) -> Movement | None: ...


def movement_from(document: dict[str, Any] | None) -> Movement | None:
    """Read a Movement's plain JSON form; None stays None.

    Raises:
        DocumentError: It is no movement.
    """
    return None if document is None else _movement(document)


def failure_from(document: dict[str, Any] | None) -> Failure | None:
    """Read a Failure's plain JSON form; None stays None.

    Raises:
        DocumentError: It is no failure.
    """
    return None if document is None else _failure(document)


def decision_from(document: dict[str, Any]) -> Decision:
    """Read a Decision's plain JSON form.

    Raises:
        DocumentError: It is no decision.
    """
    check_fields(document, _DECISION, "decision")
    check_choice(document["kind"], _DECISIONS, "decision kind")
    given = (name for name in _LISTS if name in document)
    lists = {name: check_names(document[name], f"decision {name}") for name in given}
    return Decision(
        document["kind"],
        tuple(_movement(movement) for movement in document["movements"]),
        document["output"],
        document["has_output"],
        document["reason"],
        fallback=movement_from(document.get("fallback")),
        **lists,
    )


def plan_fields(plan: Any, method: str) -> tuple[list[str], dict[str, list[str]]]:
    """Give what a method locks, and what it loads; nothing where there is no plan."""
    if plan is None:
        return [], {}
    return plan["locks"][method], plan["loads"][method]


_DECISIONS = get_args(DecisionKind)
_LISTS = ("empty_channels", "canceling_steps", "canceling_sibling_steps")
_MOVEMENT: Fields = {"step_type": str, "input": object, "options": (dict, type(None))}
_FAILURE: Fields = {"error_type": str, "detail": str}
_DECISION: Fields = {
    "kind": str,
    "movements": (list, tuple),
    "output": object,
    "has_output": bool,
    "reason": str,
}
_PLAN: Fields = {"wait_for": bool, "wait_for_failure": str, "locks": dict, "loads": dict}
_LOADS = ("attributes", "channels")
_BY_METHOD: dict[str, Fields] = {
    "locks": {"wait_for": list, "execute": list},
    "loads": {"wait_for": dict, "execute": dict},
}


def _movement(document: Any) -> Movement:
    check_fields(document, _MOVEMENT, "movement")
    options, plan = document["options"], document.get("plan")
    if options is not None:
        StepSettings.from_json(options)
    if plan is not None:
        _check_plan(plan)
    return Movement(document["step_type"], document["input"], options, plan)


def _check_plan(plan: Any) -> None:
    check_fields(plan, _PLAN, "plan")
    check_choice(plan["wait_for_failure"], ("FAIL_FLOW", "PROCEED"), "plan wait_for_failure")
    for part, fields in _BY_METHOD.items():
        check_fields(plan[part], fields, f"plan {part}")
    for method in ("wait_for", "execute"):
        check_names(plan["locks"][method], "plan locks")
        for part, names in plan["loads"][method].items():
            check_choice(part, _LOADS, "plan loads")
            check_names(names, f"plan loads {part}")


def _failure(document: Any) -> Failure:
    check_fields(document, _FAILURE, "failure")
    last_error = failure_from(document.get("last_error"))
    return Failure(document["error_type"], document["detail"], last_error)


def check_names(value: Any, what: str) -> tuple[str, ...]:
    """Take a list of names.

    Raises:
        DocumentError: It is none.
    """
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        message = f"{what} is no list of names"
        raise DocumentError(message)
    return tuple(value)
