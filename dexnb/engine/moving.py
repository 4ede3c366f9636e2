"""Where a run goes: scheduling Steps, following decisions, cancelling, closing. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any, assert_never

from dexnb.engine.ledger import Ledger
from dexnb.model.decision import Decision, Movement
from dexnb.model.message import DelayOver, SubFlowClosed
from dexnb.model.run_state import RunState, RunStatus
from dexnb.model.step_execution import StepExecution


def schedule(
    ledger: Ledger,
    movement: Movement,
    origin: str = "",
    recovery_error: dict[str, Any] | None = None,
    *,
    delay: float = 0.0,
) -> str:
    """Schedule a Step's next execution; give its id."""
    key = f"{movement.step_type}-{ledger.state.numbers.get(movement.step_type, 0) + 1}"
    delayed: dict[str, Any] = {"delay": delay} if delay else {}
    ledger.emit(
        "step_scheduled",
        key,
        **movement.to_json(),
        from_step_execution_id=origin,
        recovery_error=recovery_error,
        **delayed,
    )
    if delay:
        ledger.tell(DelayOver(key), delay=delay)
    elif ledger.state.active[key].phase == "running":
        ledger.run(key)
    return key


def follow(ledger: Ledger, decision: Decision, origin: str, from_: str) -> None:
    """Do what a completed execution has decided: first cancel, then move on or close.

    Args:
        ledger: The turn.
        decision: What it decided.
        origin: Its step execution id.
        from_: The execution that had led to it, which its siblings share.
    """
    for key in _cancelled(ledger.state, decision, from_):
        _cancel(ledger, key)
    match decision.kind:
        case "next":
            for movement in decision.movements:
                schedule(ledger, movement, origin)
        case "graceful_complete" | "dead_end":
            close_if_done(ledger)
        case "force_complete":
            close(ledger, "COMPLETED")
        case "force_complete_if_channels_empty":
            if decision.fallback is None or channels_empty(ledger.state, decision.empty_channels):
                close(ledger, "COMPLETED")
            else:
                schedule(ledger, decision.fallback, origin)
        case "force_fail":
            close(ledger, "FAILED", "STEP_DECISION_FAILED", decision.reason)
        case _:
            assert_never(decision.kind)


def completes(state: RunState, decision: Decision, origin: str, writes: Mapping[str, Any]) -> bool:
    """Tell whether a decision ends its branch with a completion.

    Args:
        state: As it is before the decision.
        decision: What an execution decides.
        origin: The execution, which does not count as one that handles a message.
        writes: What it changes, which comes before the look at the Channels.
    """
    if decision.kind != "force_complete_if_channels_empty":
        return decision.kind in ("graceful_complete", "force_complete")
    if any(name in decision.empty_channels for name, _ in writes.get("published", ())):
        return False
    from_ = state.active[origin].from_step_execution_id
    gone = {origin, *_cancelled(state, decision, from_)}
    removed = [tuple(pair) for pair in writes.get("removed", ())]
    return channels_empty(state, decision.empty_channels, besides=gone, removed=removed)


def channels_empty(
    state: RunState,
    channels: Iterable[str],
    *,
    besides: Container[str] = (),
    removed: Container[tuple[str, str]] = (),
) -> bool:
    """Tell whether nothing waits in these Channels, and no running Execute handles any.

    Args:
        state: The run.
        channels: Physical names.
        besides: Executions that do not count.
        removed: Messages that do not count.
    """
    handled = {
        channel
        for key, step in state.active.items()
        if key not in besides and step.results
        for channel in step.results.get("messages", {})
    }
    left = {
        name
        for name in channels
        for each, _ in state.channels.get(name, ())
        if (name, each) not in removed
    }
    return not left and handled.isdisjoint(channels)


def _cancelled(state: RunState, decision: Decision, from_: str) -> list[str]:
    """Give the active executions that a decision cancels: of a type, or siblings of a type."""
    return [
        key
        for key, step in state.active.items()
        if step.movement.step_type in decision.canceling_steps
        or (
            step.movement.step_type in decision.canceling_sibling_steps
            and step.from_step_execution_id == from_
        )
    ]


def cancel(ledger: Ledger, step_types: Iterable[str]) -> None:
    """Cancel the active executions of these Step types."""
    types = set(step_types)
    for key, step in list(ledger.state.active.items()):
        if step.movement.step_type in types:
            _cancel(ledger, key)


def close_if_done(ledger: Ledger) -> None:
    """Complete a run that has nothing active and was completed by at least one branch."""
    if not ledger.state.active and ledger.state.completions:
        close(ledger, "COMPLETED")


def close(
    ledger: Ledger,
    status: RunStatus,
    error_type: str = "",
    error_message: str = "",
    *,
    tells: bool = True,
) -> None:
    """End the run; what is active is cancelled, and those who wait for it are told, if `tells`."""
    for key in list(ledger.state.active):
        _cancel(ledger, key)
    ledger.emit("flow_closed", status=status, error_type=error_type, error_message=error_message)
    for parent in ledger.state.parents if tells else ():
        tell_parent(ledger, parent)


def tell_parent(ledger: Ledger, parent: dict[str, Any]) -> None:
    """Tell a run whose SubFlow has ended."""
    closed = SubFlowClosed(
        parent["step_execution_id"], parent["condition"], result_document(ledger.state)
    )
    ledger.tell(closed, run_id=parent["run_id"])


def result_document(state: RunState) -> dict[str, Any]:
    """Give what a parent is told of its SubFlow."""
    names = ("flow_id", "run_id", "status", "completions", "error_type", "error_message")
    return {name: getattr(state, name) for name in names}


def _cancel(ledger: Ledger, key: str) -> None:
    ledger.cancelled.append(key)
    ledger.emit("step_cancelled", key)


def is_waiting(step: StepExecution | None) -> bool:
    """Tell an execution that waits for its conditions."""
    return step is not None and step.phase == "waiting"
