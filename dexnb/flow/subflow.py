"""`SubFlow`: another Flow that a Step starts and waits for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from enum import Enum
from typing import Any, TypeVar, overload

from dexnb.errors import ContextCallError, DefinitionError
from dexnb.flow.attribute import Attribute, AttributeMap
from dexnb.flow.condition import Condition, condition_id_of
from dexnb.flow.context import Context, checked
from dexnb.flow.flow import Flow
from dexnb.flow.flow_config import FlowConfig
from dexnb.flow.name import MAX_NAME
from dexnb.flow.options import RetryPolicy
from dexnb.flow.result import FlowResult, result_from
from dexnb.flow.start_options import (
    FlowTimeoutHandlerOptions,
    FlowTimeoutPolicy,
    WithAttributes,
    initial_attribute,
)
from dexnb.model.shown import shown

FLOW_ID_PREFIX = "SubFlow:"
"""What the flow ids of SubFlows begin with, and no others."""


def subflow_id(flow_id: str, step_execution_id: str, number: int) -> str:
    """Give the flow id of a SubFlow.

    Args:
        flow_id: Of the parent.
        step_execution_id: Which of its executions waits.
        number: Which SubFlow of that wait, from 0.
    """
    return f"{FLOW_ID_PREFIX}{flow_id}-{step_execution_id}-{number}"


def check_subflow_ids(wait: dict[str, Any], flow_id: str, step_execution_id: str) -> None:
    """Refuse a wait whose SubFlows would have ids that no Flow may have.

    So the depth is bounded in which a Flow can start itself.

    Raises:
        DefinitionError: One would be too long.
    """
    count = sum(condition["kind"] == "subflow" for condition in wait["conditions"])
    longest = subflow_id(flow_id, step_execution_id, count - 1) if count else ""
    if len(longest) > MAX_NAME:
        depth = longest.count(FLOW_ID_PREFIX)
        raise DefinitionError(
            f"{step_execution_id} would start a SubFlow {depth} deep, whose flow id has "
            f"{len(longest)} letters, and at most {MAX_NAME} are allowed: end it if a Flow starts "
            "itself again and again, and give the first Flow a shorter id if not"
        )


StartT = TypeVar("StartT")
ValueT = TypeVar("ValueT")


class SubFlowReusePolicy(Enum):
    """What happens if a run from which this one was time-travelled has started that SubFlow.

    RESTART_IF_PREVIOUS_EXITS_ABNORMALLY goes on with one that runs or has completed, and starts
    another in place of one that failed, was cancelled or terminated.

    What any other run has started under that flow id, such as an earlier run of the same parent,
    never counts: another is started in its place, and what still runs is terminated. Only if
    another open run waits for it is the start refused with a DefinitionError, which fails the Flow.
    """

    RESTART_IF_PREVIOUS_EXITS_ABNORMALLY = "restart_if_previous_exits_abnormally"


@dataclass(frozen=True)
class SubFlowOptions(WithAttributes):
    """What the start of a SubFlow says beside the input; checked when the wait is mapped.

    Args:
        timeout: As in `StartFlowOptions`.
        timeout_policy: The same.
        timeout_handler_options: The same.
        start_delay: The same.
        retry_policy: The same.
        config_override: The same.
        reuse_policy: What happens if the SubFlow was started before a time travel.
        condition_id: Names the condition within its Wait.
    """

    timeout: timedelta | None = None
    timeout_policy: FlowTimeoutPolicy = FlowTimeoutPolicy.DEFAULT
    timeout_handler_options: FlowTimeoutHandlerOptions | None = None
    start_delay: timedelta | None = None
    retry_policy: RetryPolicy | None = None
    config_override: FlowConfig | None = None
    reuse_policy: SubFlowReusePolicy = SubFlowReusePolicy.RESTART_IF_PREVIOUS_EXITS_ABNORMALLY
    condition_id: str | None = None

    @overload
    def with_attribute(self, attribute: Attribute[ValueT], value: ValueT, /) -> SubFlowOptions: ...
    @overload
    def with_attribute(
        self, attribute: AttributeMap[ValueT], instance: str, value: ValueT, /
    ) -> SubFlowOptions: ...
    def with_attribute(self, attribute: Any, /, *given: Any) -> SubFlowOptions:
        """Give a copy with which the SubFlow begins with this value; a later one replaces it.

        Raises:
            DefinitionError: A map was given without an instance, or an Attribute with one.
        """
        return replace(self, attributes=(*self.attributes, initial_attribute(attribute, given)))


@dataclass(frozen=True, eq=False)
class SubFlowCondition(Condition):
    """Ready when the SubFlow has ended, well or not; made by `SubFlow.run`.

    Args:
        flow: The Flow to start.
        input: What its start Step gets.
        options: What the start says beside it.
    """

    flow: Flow[Any]
    input: Any
    options: SubFlowOptions

    # By identity, because inputs need not have an equality that gives a bool.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def document(self) -> dict[str, Any]:
        """Give its plain form but for the start, which only the Flow's registration tells."""
        policy = self.options.reuse_policy
        return {"kind": "subflow", "id": self.condition_id, "reuse_policy": policy.name}


class SubFlow:
    """Starts another Flow and waits for its end; its id is `SubFlow:...` and cannot be chosen."""

    @staticmethod
    def run(
        flow: Flow[StartT], input: StartT, options: SubFlowOptions | None = None
    ) -> SubFlowCondition:
        """Give a condition that starts another Flow and is ready when that has ended.

        Raises:
            DefinitionError: It is no Flow, or an option is of another kind.
        """
        given: Any = flow
        if not isinstance(given, Flow):
            made = f"{given.__name__}()" if isinstance(given, type) else "YourFlow()"
            fix = f"give an instance of a Flow subclass: {made}"
            raise DefinitionError(f"SubFlow.run flow is {shown(given)}: {fix}")
        options = SubFlowOptions() if options is None else options
        if not isinstance(options, SubFlowOptions):
            raise DefinitionError(
                f"SubFlow.run options is {shown(options)}: give SubFlowOptions or None"
            )
        policy: Any = options.reuse_policy
        if not isinstance(policy, SubFlowReusePolicy):
            fix = "give SubFlowReusePolicy.RESTART_IF_PREVIOUS_EXITS_ABNORMALLY"
            raise DefinitionError(f"SubFlowOptions.reuse_policy is {shown(policy)}: {fix}")
        condition_id = condition_id_of(options.condition_id)
        return SubFlowCondition(flow, input, options, condition_id=condition_id)

    @staticmethod
    def get_condition_results(context: Context, index: int = 0) -> FlowResult:
        """Give how a SubFlow of this Step's wait ended; one that still runs is RUNNING.

        Args:
            context: The context of execute.
            index: Which SubFlow of the wait, from 0; other conditions do not count.

        Raises:
            ContextCallError: The wait has no SubFlow of that index, or this is no execute.
            DefinitionError: The context is none.
        """
        return result_from(_raw(context, index, "SubFlow.get_condition_results"))

    @staticmethod
    def get_flow_id(context: Context, index: int = 0) -> str:
        """Give the flow id of a SubFlow of this Step's wait.

        Raises:
            ContextCallError: The wait has no SubFlow of that index, or this is no execute.
            DefinitionError: The context is none.
        """
        flow_id: str = _raw(context, index, "SubFlow.get_flow_id").get("flow_id", "")
        return flow_id


def _raw(context: Context, index: Any, operation: str) -> dict[str, Any]:
    subflows = checked(context, operation).data.wait_results(operation).subflows
    if type(index) is not int or not 0 <= index < len(subflows):
        last = f"from 0 to {len(subflows) - 1}" if subflows else "the wait has no SubFlow"
        raise ContextCallError(operation, f"index is {shown(index)}: give one, {last}")
    return subflows[index]
