"""Checkpoints through the SQLite provider: tasks that each wait until their own is stored."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from dexnb.providers import Beat, WorkItem
from tests.bench.programs.dexnb_flows import settings
from tests.bench.programs.meter import Meter, answer, arguments
from tests.providers.sqlite_case import HANDLERS, opened, start


async def measured(store: str, tasks: int, beats: int) -> dict[str, Any]:
    """Give the checkpoints a second of so many tasks."""
    async with opened(Path(store)) as provider:
        await asyncio.gather(*(start(provider, str(number)) for number in range(tasks)))
        items = await provider.fetch_work_items(3600, 0, HANDLERS, tasks)

        async def beating(item: WorkItem) -> None:
            for number in range(beats // tasks):
                await provider.record_beats([Beat(item.token, f'{{"round":{number}}}')])

        with Meter() as meter:
            await asyncio.gather(*map(beating, items))
    return {
        **meter.figures(beats // tasks * len(items)),
        "settings": settings(store) | {"synchronous": "NORMAL"},
    }


def main() -> None:
    """Answer."""
    asked = arguments()
    answer(**asyncio.run(measured(asked["store"], asked["tasks"], asked["beats"])))


if __name__ == "__main__":
    main()
