from __future__ import annotations

from datetime import timedelta

from dexnb import (
    Attribute,
    AttributeIndex,
    Channel,
    Context,
    Flow,
    IndexType,
    PersistenceSchema,
    Step,
    StepDecision,
    StepList,
    Stream,
    Timer,
    Wait,
    graceful_complete,
    rpc,
)

TITLE = Attribute("Title", str)
SHELF = Attribute("Shelf", str, AttributeIndex(IndexType.KEYWORD))
ORDERS = Channel("Orders", str)
PAGES = Stream("Pages", int, 1 << 16)


class Print(Step[str]):
    def wait_for(self, context: Context, input: str) -> Wait:
        return Wait.any_of(ORDERS.for_one(), Timer.by_duration(timedelta(days=1)))

    def execute(self, context: Context, input: str) -> StepDecision:
        self._count(context)
        return graceful_complete(input)

    def _count(self, context: Context) -> None:
        PAGES.write(context, 1)


class Press(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(Print())

    def get_persistence_schema(self) -> PersistenceSchema:
        return PersistenceSchema.of(TITLE, SHELF, ORDERS, PAGES)

    @rpc
    def rename(self, context: Context, input: str) -> None:
        TITLE.set(context, input)
