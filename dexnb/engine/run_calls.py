"""What a client asks of a run as a whole: to end, to be waited for, to be configured otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dexnb.engine.addressing import answer
from dexnb.engine.limit import Limit
from dexnb.engine.result import result_of
from dexnb.errors import DefinitionError, LongPollTimeoutError
from dexnb.flow.client_options import StopFlowOptions, StopType
from dexnb.flow.flow_config import FlowConfig, config_document
from dexnb.flow.option_check import OptionCheck
from dexnb.flow.result import FlowResult
from dexnb.model.arguments import of_type
from dexnb.model.event import Event
from dexnb.model.message import ConfigChanged, Stop, StopKind
from dexnb.providers import RunRecord

if TYPE_CHECKING:
    from dexnb.engine.engine import Engine

STOPS: dict[StopType, StopKind] = {
    StopType.CANCEL: "CANCEL",
    StopType.TERMINATE: "TERMINATE",
    StopType.FAIL: "FAIL",
}


async def stop_run(engine: Engine, record: RunRecord, options: StopFlowOptions) -> None:
    """End an open run; returns once it has ended."""
    await engine.send(record.run_id, Stop(STOPS[options.type], options.reason or ""))
    await engine.wait_closed(record.run_id)


async def wait_for_run(engine: Engine, record: RunRecord, limit: Limit) -> FlowResult:
    """Wait until a run has ended; give how.

    Raises:
        LongPollTimeoutError: It runs on at the limit.
    """
    try:
        async with limit.rest():
            state = await engine.wait_closed(record.run_id)
    except TimeoutError:
        message = f"{record.flow_id} runs on after {limit.seconds:g} s; it was left alone"
        raise LongPollTimeoutError(message) from None
    return result_of(state, engine.registry.codecs)


def read_config(config: FlowConfig) -> dict[str, str]:
    """Check what a run is to be configured with.

    Raises:
        DefinitionError: It is no FlowConfig, or a value cannot hold.
    """
    of_type(config, FlowConfig, "update_flow_config config", "FlowConfig(...)")
    check = OptionCheck("update_flow_config")
    document = config_document(config, check, "config")
    if check.problems:
        raise DefinitionError("; ".join(map(str, check.problems)))
    return document


async def update_config(engine: Engine, record: RunRecord, document: dict[str, str]) -> None:
    """Change what an open run asks of the runtime.

    Raises:
        FlowNotActiveOrNotFoundError: It ended meanwhile.
    """
    await engine.send(record.run_id, ConfigChanged(document))

    def changed(event: Event) -> bool:
        """Tell this change."""
        return event.kind == "config_changed" and event.payload["config"] == document

    await answer(engine, record, changed)
