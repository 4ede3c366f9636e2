from __future__ import annotations

from collections.abc import Generator

from dexnb import (
    AsyncContext,
    Context,
    Flow,
    PersistenceSchema,
    Step,
    StepDecision,
    StepList,
    StepOutput,
    Stream,
    go_to,
    graceful_complete,
    heartbeat,
)

LINES = Stream("Lines", int, 1 << 16)


class CountInAPlainStep(Step[int]):
    def execute(self, context: Context, input: int) -> StepDecision:
        for number in range(input):
            heartbeat(number)  # expect: DX313
        return go_to(CountInAGenerator, input)


class CountInAGenerator(Step[int]):
    def execute(self, context: Context, input: int) -> Generator[StepOutput, None, StepDecision]:
        for number in range(input):
            heartbeat(number)  # expect: DX313
            LINES.write(context, number)  # expect: DX313
            yield heartbeat(number)
            self._report(context, number)  # expect: DX313
        return go_to(CountInACoroutine, input)

    def _report(self, context: Context, number: int) -> Generator[StepOutput, None, None]:
        yield heartbeat(number)


class CountInACoroutine(Step[int]):
    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        for number in range(input):
            context.heartbeat(number)  # expect: DX313
        return graceful_complete()


class Counting(Flow[int]):
    def get_steps(self) -> StepList[int]:
        return StepList.start_step(CountInAPlainStep()).other_steps(
            CountInAGenerator(), CountInACoroutine()
        )

    def get_persistence_schema(self) -> PersistenceSchema:
        return PersistenceSchema.of(LINES)
