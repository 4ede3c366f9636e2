"""From what a start was called with to the `Start` message, of a run and of a SubFlow."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from dexnb.errors import DefinitionError, FlowDefinitionError, Problem
from dexnb.flow.codec import encode, text_of
from dexnb.flow.flow_config import config_document
from dexnb.flow.movement import map_input
from dexnb.flow.name import name_fix
from dexnb.flow.option_check import OptionCheck
from dexnb.flow.options import StepDurability
from dexnb.flow.plan import PlanReader, need_problems, plan_document
from dexnb.flow.recovery import recovery_problems, with_recovery_plan
from dexnb.flow.registry import RegisteredFlow
from dexnb.flow.resolve import Resolver
from dexnb.flow.start_options import (
    FlowTimeoutHandlerOptions,
    FlowTimeoutPolicy,
    IdReusePolicy,
    InitialAttribute,
    StartFlowOptions,
    WithAttributes,
)
from dexnb.flow.timeout_step import TIMEOUT_STEP_TYPE
from dexnb.flow.typed import check
from dexnb.model.decision import Movement
from dexnb.model.message import Start, TimeoutPolicy
from dexnb.model.settings import StepSettings
from dexnb.model.shown import shown


def map_start(
    flow: RegisteredFlow,
    flow_id: str,
    input: Any,
    overrides: dict[str, Any] | None = None,
    options: StartFlowOptions | None = None,
) -> Start:
    """Make the message that starts a run.

    Raises:
        FlowDefinitionError: The Flow has no start Step, the flow id cannot be one, or an option
            does not hold.
        ValueMappingError: The input does not fit the start Step or cannot be stored.
    """
    reader = StartReader(flow, f"{flow.flow_type}.options")
    given = StartFlowOptions() if options is None else options
    if not isinstance(given, StartFlowOptions):
        fix = "give StartFlowOptions or None"
        reader.problems.append(Problem(f"{flow.flow_type}.options", shown(given), fix))
        given = StartFlowOptions()
    parts = reader.read(given)
    request_id = reader.request_id(given)
    fix_id = name_fix(flow_id)
    if fix_id is not None:
        reader.problems.append(Problem(f"{flow.flow_type} flow_id", shown(flow_id), fix_id))
    parts |= {"flow_id": flow_id, "request_id": request_id}
    start = reader.with_input(parts, input)
    document = _overrides(flow, overrides)
    return replace(start, overrides=document) if document else start


def _overrides(flow: RegisteredFlow, overrides: dict[str, Any] | None) -> dict[str, Any]:
    if not overrides:
        return {}
    operation = f"overrides of {flow.flow_type}"
    document: dict[str, Any] = encode(dict(overrides), operation)
    text_of(document, operation)
    return document


class StartReader:
    """Reads one start's options; every problem is kept.

    Args:
        flow: What is started.
        where: The prefix of each problem.
    """

    def __init__(self, flow: RegisteredFlow, where: str) -> None:
        """Start with no problems."""
        self.flow = flow
        self.check = OptionCheck(where, flow.minimum_heartbeat)
        self.problems: list[Problem] = self.check.problems

    def read(self, options: Any) -> dict[str, Any]:
        """Give what the message is made of, of StartFlowOptions or SubFlowOptions."""
        flow = self.flow
        if flow.start is None:
            fix = "give get_steps() a StepList.start_step(...)"
            where = f"{flow.flow_type}.get_steps"
            self.problems.append(Problem(where, "without a start Step", fix))
        timeout = self.check.seconds("timeout", options.timeout) or 0.0
        policy = self._policy(options)
        handler = self._handler(options.timeout_handler_options, policy)
        self._retry(options.retry_policy)
        return {
            "flow_id": "",
            "flow_type": flow.flow_type,
            "start_delay": self.check.seconds("start_delay", options.start_delay) or 0.0,
            "timeout": timeout,
            "timeout_policy": policy,
            "timeout_handler": handler if timeout else None,
            "attributes": self._attributes(options),
            "config": config_document(options.config_override, self.check, "config_override"),
        }

    def with_input(self, parts: dict[str, Any], input: Any) -> Start:
        """Give the message of these parts, with what the start Step gets.

        Raises:
            FlowDefinitionError: There are problems.
            ValueMappingError: The input does not fit the start Step or cannot be stored.
        """
        first = self.flow.start
        if self.problems or first is None:
            raise FlowDefinitionError(self.flow.flow_type, self.problems, "start")
        document = map_input(input, self.flow, first)
        movement = Movement(first.step_type, document, plan=first.plan)
        return Start(**parts, input=document, start_step=movement)

    def request_id(self, options: StartFlowOptions) -> str:
        """Check what tells one start from another, and give its id."""
        self.check.member("id_reuse_policy", options.id_reuse_policy, IdReusePolicy.DEFAULT)
        self.check.flag("ignore_already_started", options.ignore_already_started)
        if options.request_id is None:
            return ""
        fix = name_fix(options.request_id, reserved="")
        if fix is not None:
            self.check.problem("request_id", options.request_id, f"{fix}, or leave it out")
        return options.request_id

    def _policy(self, options: Any) -> TimeoutPolicy:
        default = FlowTimeoutPolicy.DEFAULT
        policy = self.check.member("timeout_policy", options.timeout_policy, default)
        handles = TIMEOUT_STEP_TYPE in self.flow.steps
        if policy is default:
            return "HANDLER" if handles else "FAIL"
        if options.timeout is None or options.timeout == timedelta(0):
            fix = "give a timeout above 0 s too, or leave the policy out"
            self.check.problem("timeout_policy", policy, fix)
        if policy is FlowTimeoutPolicy.HANDLER and not handles:
            fix = f"override handle_timeout in {type(self.flow.flow).__name__}, or use FAIL"
            self.check.problem("timeout_policy", policy, fix)
        return _POLICIES[policy]

    def _handler(
        self, options: FlowTimeoutHandlerOptions | None, policy: TimeoutPolicy
    ) -> Movement | None:
        known = self.check.is_a(FlowTimeoutHandlerOptions, "timeout_handler_options", options)
        if policy != "HANDLER":
            if known:
                fix = "leave them out, or override handle_timeout and use FlowTimeoutPolicy.HANDLER"
                self.check.problem("timeout_handler_options", options, fix)
            return None
        # A HANDLER that the Flow does not have is a problem of the policy.
        if not known or options is None or TIMEOUT_STEP_TYPE not in self.flow.steps:
            return Movement(TIMEOUT_STEP_TYPE)
        return self._handler_movement(options)

    def _handler_movement(self, options: FlowTimeoutHandlerOptions) -> Movement:
        where = f"{self.check.where}.timeout_handler_options"
        resolver = Resolver(where, self.flow.minimum_heartbeat)
        reader = PlanReader(where)
        settings = with_recovery_plan(_handler_settings(options, resolver), self.flow.steps)
        plan = plan_document(reader.method(options), waits=False)
        self.problems += [
            *resolver.problems,
            *reader.problems,
            *recovery_problems(f"{where}.recovery", TIMEOUT_STEP_TYPE, settings, self.flow.steps),
            *need_problems([*resolver.needs, *reader.needs], self.flow.persistence),
        ]
        return Movement(TIMEOUT_STEP_TYPE, None, settings.to_json(), plan)

    def _retry(self, policy: Any) -> None:
        if policy is not None:
            fix = (
                "leave it out: a Flow is not retried, its Steps are, by StepOptions(execute_retry)"
            )
            self.check.problem("retry_policy", policy, fix)

    def _attributes(self, options: WithAttributes) -> dict[str, Any]:
        given: Any = options.attributes
        if not isinstance(given, tuple) or not all(isinstance(e, InitialAttribute) for e in given):
            self.check.problem("attributes", given, "use .with_attribute(attribute, value)")
            return {}
        # The last value of each counts, and is the only one that must hold.
        last = {each.physical_name: each for each in given}
        found = {}
        for name, each in last.items():
            try:
                document = self._attribute(name, each)
            except DefinitionError as error:
                self.problems.append(Problem(f"{self.check.where}.with_attribute", "", str(error)))
                continue
            if document is not None:
                found[name] = document
        return found

    def _attribute(self, name: str, given: InitialAttribute) -> Any:
        attribute = given.attribute
        self.flow.persistence.check(attribute)
        if given.value is None:
            return None
        operation = f"{attribute.kind} {name} initial value"
        document = check(given.value, attribute.value_type, operation)
        text_of(document, operation)
        return document


_POLICIES: dict[FlowTimeoutPolicy, TimeoutPolicy] = {
    FlowTimeoutPolicy.FAIL: "FAIL",
    FlowTimeoutPolicy.CANCEL: "CANCEL",
    FlowTimeoutPolicy.HANDLER: "HANDLER",
}


def _handler_settings(options: FlowTimeoutHandlerOptions, resolver: Resolver) -> StepSettings:
    default = StepSettings()
    method = resolver.seconds("method_timeout", options.method_timeout)
    heartbeat = resolver.heartbeat("heartbeat_timeout", options.heartbeat_timeout)
    recovery = resolver.recovery(options.recovery)
    return StepSettings(
        execute_method_timeout=method or default.execute_method_timeout,
        heartbeat_timeout=heartbeat or default.heartbeat_timeout,
        retry=resolver.retry("retry", options.retry),
        durability=resolver.durability("durability", options.durability),
        explicit_sync=options.durability is StepDurability.SYNC,
        recovery=recovery.step_type,
        recovery_options=recovery.options,
        recovery_plan=recovery.plan,
    )
