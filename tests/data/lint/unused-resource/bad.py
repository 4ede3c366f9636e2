from __future__ import annotations

from dexnb import (
    Attribute,
    Channel,
    Context,
    Flow,
    PersistenceSchema,
    Step,
    StepDecision,
    StepList,
    Stream,
    graceful_complete,
)

TITLE = Attribute("Title", str)
ORDERS = Channel("Orders", str)
PAGES = Stream("Pages", int, 1 << 16)


class Print(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        TITLE.set(context, input)
        return graceful_complete(input)


def listed() -> PersistenceSchema:
    return PersistenceSchema.of(
        TITLE,
        PAGES,  # expect: DX402
        ORDERS,  # expect: DX402
    )


class Press(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(Print())

    def get_persistence_schema(self) -> PersistenceSchema:
        return listed()
