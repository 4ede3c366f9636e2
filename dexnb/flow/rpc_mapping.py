"""From what an RPC is called with and returns to the documents that are stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dexnb.errors import DefinitionError, InvalidStepResultError
from dexnb.flow.codec import text_of
from dexnb.flow.movement import map_movement, step_types
from dexnb.flow.plan import PlanReader, need_problems
from dexnb.flow.registry import RegisteredFlow
from dexnb.flow.rpc import RPCInvokeOptions, RPCResult
from dexnb.flow.rpc_reader import RegisteredRpc
from dexnb.flow.typed import check, check_input
from dexnb.model.decision import Movement
from dexnb.model.shown import shown


@dataclass(frozen=True, slots=True)
class RpcOutcome:
    """What an RPC gave, encoded: its output, the Steps it starts and the types it cancels."""

    output: Any = None
    movements: tuple[Movement, ...] = ()
    canceling_steps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RpcPlan:
    """What one call locks and loads, by physical name."""

    locks: list[str]
    loads: dict[str, list[str]]


def map_rpc_plan(
    rpc: RegisteredRpc, flow: RegisteredFlow, options: RPCInvokeOptions | None = None
) -> RpcPlan:
    """Give what one call locks and loads, with what the call adds.

    Raises:
        DefinitionError: The options name something that cannot be locked or loaded.
    """
    reader = PlanReader(f"{flow.flow_type}.{rpc.method}")
    known = reader.is_a(RPCInvokeOptions, "options", options)
    added = reader.method(options if known else None, fields=_INVOKE_FIELDS)
    problems = [*reader.problems, *need_problems(reader.needs, flow.persistence)]
    if problems:
        raise DefinitionError("; ".join(map(str, problems)))
    attributes, channels = rpc.loads["attributes"], rpc.loads["channels"]
    loads = {
        "attributes": _once(attributes, added.attributes),
        "channels": _once(channels, added.channels),
    }
    return RpcPlan(_once(rpc.locks, added.locks), loads)


_INVOKE_FIELDS = {
    "lock_attribute_map_instances": "lock_attributes",
    "load_attribute_map_instances": "load_attribute_map_instances",
    "load_channel_map_instances": "load_channel_map_instances",
}


def _once(first: list[str], second: list[str]) -> list[str]:
    return list(dict.fromkeys((*first, *second)))


def map_rpc_input(value: Any, rpc: RegisteredRpc, flow: RegisteredFlow) -> Any:
    """Check and encode what an RPC is called with; None for one without an input.

    Raises:
        ValueMappingError: It is of another type, or cannot be stored.
    """
    operation = f"input of {flow.flow_type}.{rpc.method}"
    document = check_input(value, rpc.input_type, operation)
    text_of(document, operation)
    return document


def map_rpc_result(result: Any, rpc: RegisteredRpc, flow: RegisteredFlow) -> RpcOutcome:
    """Check and encode what an RPC returned; None is an empty outcome.

    Raises:
        InvalidStepResultError: It is no RPCResult, or names something unknown or unfit.
    """
    try:
        return _map_result(result, rpc, flow)
    except DefinitionError as error:
        raise InvalidStepResultError(flow.flow_type, "", rpc.method, str(error)) from error


def _map_result(result: Any, rpc: RegisteredRpc, flow: RegisteredFlow) -> RpcOutcome:
    if result is None:
        return RpcOutcome()
    if not isinstance(result, RPCResult):
        fix = "return RPCResult(output) or None"
        raise DefinitionError(f"an RPC must return RPCResult, got {shown(result)}: {fix}")
    given: Any = result.next_steps
    if not isinstance(given, tuple | list):
        fix = "give a tuple, such as (StepMovement.of(YourStep, input),)"
        raise DefinitionError(f"next_steps is {shown(given)}: {fix}")
    operation = f"output of {flow.flow_type}.{rpc.method}"
    output = check(result.output, rpc.output_type, operation)
    text_of(output, operation)
    movements = tuple(map_movement(movement, flow) for movement in given)
    return RpcOutcome(
        output, movements, step_types(result.canceling_steps, flow, "canceling_steps")
    )
