"""From `StepOptions` to `StepSettings`: defaults filled in, every mistake listed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dexnb.errors import DefinitionError, Problem
from dexnb.flow.option_check import OptionCheck
from dexnb.flow.options import Recovery, StepDurability, StepOptions
from dexnb.flow.plan import Need, Plan, PlanReader, waits
from dexnb.flow.step import Step
from dexnb.model.settings import MINIMUM_HEARTBEAT_TIMEOUT, StepSettings
from dexnb.model.shown import LONGEST, shown


class Resolver(OptionCheck):
    """Reads one Step's options into seconds and names, and collects what does not hold.

    Args:
        where: `Flow.Step`, the prefix of each problem.
        minimum_heartbeat: Smallest heartbeat_timeout that the runtime takes, in seconds.
    """

    def __init__(self, where: str, minimum_heartbeat: float = MINIMUM_HEARTBEAT_TIMEOUT) -> None:
        """Start with no problems."""
        super().__init__(where, minimum_heartbeat)
        self.needs: list[Need] = []

    def settings(self, options: StepOptions | None) -> StepSettings:
        """Resolve options; None gives all defaults. Look at `problems` afterwards."""
        default = StepSettings()
        if not self.is_a(StepOptions, "options", options) or options is None:
            return default
        execute = self.seconds("execute_method_timeout", options.execute_method_timeout)
        heartbeat = self.heartbeat("heartbeat_timeout", options.heartbeat_timeout)
        wait_for = self.seconds("wait_for_method_timeout", options.wait_for_method_timeout)
        recovery = self.recovery(options.recovery)
        return StepSettings(
            execute_method_timeout=execute or default.execute_method_timeout,
            heartbeat_timeout=heartbeat or default.heartbeat_timeout,
            retry=self.retry("execute_retry", options.execute_retry),
            durability=self.durability("execute_durability", options.execute_durability),
            recovery=recovery.step_type,
            recovery_options=recovery.options,
            recovery_plan=recovery.plan,
            wait_for_method_timeout=wait_for or default.wait_for_method_timeout,
            wait_for_retry=self.retry("wait_for_retry", options.wait_for_retry),
            wait_for_durability=self.durability("wait_for_durability", options.wait_for_durability),
            explicit_sync=options.execute_durability is StepDurability.SYNC,
            wait_for_explicit_sync=options.wait_for_durability is StepDurability.SYNC,
        )

    def plan(self, options: StepOptions | None, *, waits: bool) -> Plan | None:
        """Give the plan of a Step; look at `problems` and `needs` afterwards."""
        reader = PlanReader(self.where)
        plan = reader.step(options, waits=waits)
        self.problems += reader.problems
        self.needs += reader.needs
        return plan

    def recovery(self, recovery: Recovery | None) -> RecoveryDocument:
        """Resolve where an exhausted Step leads."""
        if recovery is None:
            return RecoveryDocument()
        if not isinstance(recovery, Recovery):
            self.problem("recovery", recovery, "use StepOptions(...)" + _PROCEED)
            return RecoveryDocument()
        try:
            target = step_type_of(recovery.step)
        except DefinitionError as error:
            self.problems.append(Problem(f"{self.where}.recovery", "", str(error)))
            return RecoveryDocument()
        if recovery.options is None:
            return RecoveryDocument(target)
        inner = Resolver(f"{self.where}.recovery", self.minimum_heartbeat)
        settings = inner.settings(recovery.options)
        plan = inner.plan(recovery.options, waits=waits(recovery.step))
        self.problems += inner.problems
        self.needs += inner.needs
        return RecoveryDocument(target, settings.to_json(), plan)


@dataclass(frozen=True, slots=True)
class RecoveryDocument:
    """Where an exhausted Step leads, in plain form.

    Args:
        step_type: The Step, or None to fail.
        options: The settings that replace that Step's own, or None.
        plan: The plan under those.
    """

    step_type: str | None = None
    options: dict[str, Any] | None = None
    plan: Plan | None = None


_PROCEED = ".on_execute_failure_proceed_to(YourStep)"


def step_type_of(step: type[Step[Any]]) -> str:
    """Give a Step class's registered name without making an instance of its own.

    Raises:
        DefinitionError: It is no Step class, or its name depends on an instance.
    """
    given: Any = step
    if not (isinstance(given, type) and issubclass(given, Step)):
        fix = "give the class, YourStep, not an instance"
        if isinstance(given, Step):
            fix = f"give the class, {type(given).__name__}, not an instance"
        elif isinstance(given, str):
            name = given if given.isidentifier() and len(given) <= LONGEST else "YourStep"
            fix = f"give the class, {name}, not its name"
        raise DefinitionError(f"{shown(given)} is no Step class: {fix}")
    if given.get_step_type is Step.get_step_type:
        return given.__name__
    try:
        name = given.get_step_type(object.__new__(given))
    except Exception as error:
        message = (
            f"{given.__name__}.get_step_type() raised {type(error).__name__} ({error}) without "
            "__init__: return the same name for every instance of the class"
        )
        raise DefinitionError(message) from error
    if not isinstance(name, str):
        message = f"{given.__name__}.get_step_type() gave {shown(name)}: return a str"
        raise DefinitionError(message)
    return name
