"""A Flow that is wrong in many ways, alive and as a text."""

from __future__ import annotations

from dexnb import (
    Attribute,
    Context,
    Flow,
    PersistenceSchema,
    RetryPolicy,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    Stream,
    go_to,
    graceful_complete,
)

UNUSED = Stream("Unused", str, 1 << 16)
USED = Attribute("Used", str)
OTHER = Attribute("Other", str)


class Begin(Step[str]):
    """Leads to a Step that is not listed, and reads what is not."""

    def execute(self, context: Context, input: str) -> StepDecision:
        """Decide."""
        USED.set(context, input)
        if input:
            return self.onward(OTHER.get(context) or input)
        return graceful_complete()

    def onward(self, text: str) -> StepDecision:
        """Go on."""
        return go_to(Stray, text)  # stray


class Stray(Step[str]):
    """Not listed."""

    def execute(self, context: Context, input: str) -> StepDecision:
        """End."""
        return graceful_complete()


class Left(Step[str]):
    """Listed, and nothing leads to it."""

    def get_step_options(self) -> StepOptions:
        """Give options that cannot hold."""
        return StepOptions(execute_retry=RetryPolicy(backoff_coefficient=0.5))

    def execute(self, context: Context, input: str) -> StepDecision:
        """End."""
        return graceful_complete()


class Wrong(Flow[str]):
    """Wrong in many ways."""

    def get_steps(self) -> StepList[str]:
        """Give the Steps."""
        return StepList.start_step(Begin()).other_steps(Left())

    def get_persistence_schema(self) -> PersistenceSchema:
        """Keep what is used, and more."""
        return PersistenceSchema.of(USED, UNUSED)
