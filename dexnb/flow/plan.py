"""The Plan of a movement: whether its Step waits first, what its methods lock and load.

A turn knows no user code, so a movement carries this. It is None for a Step that only executes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from dexnb.errors import DefinitionError, Problem
from dexnb.flow.attribute import AttributeLock, AttributeMap, AttributeMapLoad
from dexnb.flow.channel import Channel
from dexnb.flow.channel_map import ChannelMap, ChannelMapLoad
from dexnb.flow.option_check import OptionCheck
from dexnb.flow.options import StepOptions, WaitForFailurePolicy
from dexnb.flow.persistence import Persistence
from dexnb.flow.physical import whole_map
from dexnb.flow.step import Step
from dexnb.model.settings import StepSettings

Plan = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Need:
    """A definition that options name, so that the Flow's schema must list it.

    Args:
        where: The field, for a problem.
        definition: What is named.
    """

    where: str
    definition: Any


@dataclass(slots=True)
class MethodPlan:
    """What one method locks and loads, by physical name."""

    locks: list[str] = field(default_factory=list)
    attributes: list[str] = field(default_factory=list)
    channels: list[str] = field(default_factory=list)

    @property
    def loads(self) -> dict[str, list[str]]:
        """The Loads document."""
        return {"attributes": self.attributes, "channels": self.channels}

    def __bool__(self) -> bool:
        """Tell whether it asks for anything."""
        return bool(self.locks or self.attributes or self.channels)


class Planned(Protocol):
    """A Step whose own plan is known."""

    @property
    def plan(self) -> Plan | None:
        """What its own options say."""


class PlanReader(OptionCheck):
    """Reads locks and loads of options of any kind; look at `problems` and `needs` afterwards."""

    def __init__(self, where: str) -> None:
        """Start with no problems."""
        super().__init__(where)
        self.needs: list[Need] = []

    def step(self, options: StepOptions | None, *, waits: bool) -> Plan | None:
        """Give a Step's plan; `waits` tells whether it has a wait_for."""
        if not isinstance(options, StepOptions):
            return plan_document(waits=waits)
        default = WaitForFailurePolicy.FAIL_FLOW
        failure = self.member("wait_for_failure", options.wait_for_failure, default)
        wait_for = self.method(options, "wait_for_")
        execute = self.method(options, "execute_")
        return plan_document(execute, wait_for, waits=waits, failure=failure)

    def method(
        self, options: Any, prefix: str = "", fields: Mapping[str, str] | None = None
    ) -> MethodPlan:
        """Give what one method of options locks and loads.

        Args:
            options: Any that have such fields.
            prefix: What the fields' names begin with.
            fields: The fields to read, where they have names of their own.
        """
        plan = MethodPlan()
        for name, kind in (fields or {name: name for name in _FIELDS}).items():
            class_, target, fix = _FIELDS[kind]
            names = getattr(plan, target)
            for entry in self._entries(options, f"{prefix}{name}", class_, fix):
                physical = _physical(entry)
                if physical not in names:
                    names.append(physical)
        return plan

    def _entries(self, options: Any, name: str, class_: type, fix: str) -> Iterator[Any]:
        given = getattr(options, name, ())
        if not isinstance(given, tuple | list):
            self.problem(name, given, f"give a tuple, such as ({fix},)")
            return
        for entry in given:
            if not isinstance(entry, class_):
                self.problem(name, entry, f"give {fix}")
                continue
            self.needs.append(Need(f"{self.where}.{name}", _definition(entry)))
            yield entry


def plan_document(
    execute: MethodPlan | None = None,
    wait_for: MethodPlan | None = None,
    *,
    waits: bool,
    failure: WaitForFailurePolicy = WaitForFailurePolicy.FAIL_FLOW,
) -> Plan | None:
    """Give the plan of what two methods ask for; None where a turn need not know of it."""
    execute = execute or MethodPlan()
    wait_for = (waits and wait_for) or MethodPlan()
    if not waits and not execute:
        return None
    return {
        "wait_for": waits,
        "wait_for_failure": failure.name,
        "locks": {"wait_for": wait_for.locks, "execute": execute.locks},
        "loads": {"wait_for": wait_for.loads, "execute": execute.loads},
    }


def waits(step: type[Step[Any]]) -> bool:
    """Tell a Step class that waits before it executes."""
    return step.wait_for is not Step.wait_for


def plan_of(
    flow: Any, step: Planned, options: StepOptions | StepSettings | None = None
) -> Plan | None:
    """Give the plan under which a Step of a Flow is scheduled.

    Args:
        flow: The registered Flow, whose schema must list what the options name.
        step: The registered Step.
        options: What replaces the Step's own options. Settings name neither locks nor loads, so
            they leave the Step's own plan as it is.

    Raises:
        DefinitionError: The options name something that cannot be locked or loaded.
    """
    if not isinstance(options, StepOptions):
        return step.plan
    reader = PlanReader(f"{flow.flow_type}.{getattr(step, 'step_type', 'Step')}")
    plan = reader.step(options, waits=getattr(step, "wait_for", None) is not None)
    problems = [*reader.problems, *need_problems(reader.needs, flow.persistence)]
    if problems:
        raise DefinitionError("; ".join(map(str, problems)))
    return plan


def need_problems(needs: Iterable[Need], kept: Persistence) -> Iterator[Problem]:
    """Check that a Flow's schema lists what options name: by name, kind and type."""
    for need in needs:
        try:
            kept.check(need.definition)
        except DefinitionError as error:
            yield Problem(need.where, "", str(error))


def _physical(entry: Any) -> str:
    if isinstance(entry, AttributeMap | ChannelMap):
        return whole_map(entry.name)
    return entry.name if isinstance(entry, Channel) else str(entry.physical_name())


def _definition(entry: Any) -> Any:
    if isinstance(entry, AttributeLock):
        return entry.attribute
    if isinstance(entry, AttributeMapLoad):
        return entry.attribute_map
    return entry.channel_map if isinstance(entry, ChannelMapLoad) else entry


_FIELDS: dict[str, tuple[type, str, str]] = {
    "lock_attributes": (AttributeLock, "locks", "YourAttribute.lock()"),
    "load_attribute_maps": (AttributeMap, "attributes", "your AttributeMap"),
    "load_attribute_map_instances": (AttributeMapLoad, "attributes", "YourMap.load('instance')"),
    "load_channels": (Channel, "channels", "your Channel"),
    "load_channel_maps": (ChannelMap, "channels", "your ChannelMap"),
    "load_channel_map_instances": (
        ChannelMapLoad,
        "channels",
        "YourMap.load_messages('instance')",
    ),
}
