"""A flow file of a Dex user runs after only its import line has changed."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import dexnb
from dexnb.clock import Clock
from dexnb.engine import FlowResult, Runtime
from dexnb.providers import MemoryProvider

# Text and not code of this tree: the package that it imports from is not installed here.
FOLDER = Path(__file__).parents[1] / "data" / "dex_style"
FILES = sorted(FOLDER.glob("*.py.txt"))


@contextmanager
def opened(name: str, folder: Path) -> Iterator[ModuleType]:
    """Import a flow file after its one change."""
    path = folder / f"{name}.py"
    path.write_text(with_dexnb((FOLDER / f"{name}.py.txt").read_text("utf-8")), "utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules[name]


def with_dexnb(text: str) -> str:
    """Change the import line and nothing else."""
    before = text.splitlines()
    after = [line.replace("from dex import", "from dexnb import") for line in before]
    assert sum(old != new for old, new in zip(before, after, strict=True)) == 1
    return "\n".join(after) + "\n"


def play(flow: dexnb.Flow[Any], input: Any, stream: str) -> tuple[FlowResult, list[Any], int]:
    """Run a Flow on the virtual clock; give its result, messages and number of attempts."""

    async def main() -> tuple[FlowResult, list[Any], int]:
        async with Runtime(MemoryProvider()) as runtime:
            run = await runtime.start(flow, "dex-1", input)
            result = await run.wait()
            messages = [message.value for message in await run.stream(stream)]
            events = await run.events()
            return result, messages, sum(e.kind == "attempt_started" for e in events)

    return Clock.virtual().run(main())


def test_an_async_flow_survives_an_error_of_its_service(tmp_path: Path) -> None:
    """Dataclass messages, an int checkpoint, a retry, and the output come out as in Dex."""
    with opened("async_flow", tmp_path) as module:
        result, messages, attempts = play(module.RenderFlow(), 90, "RenderProgress")
        assert result.single_output(dict) == {"video": "dex-1", "frames": 90}
        assert attempts == 3
        counts = [message["done"] for message in messages]
        assert counts == sorted(set(counts)), "no message is repeated"
        assert module.FARM.away


def test_an_async_flow_fails_by_its_own_decision(tmp_path: Path) -> None:
    """`force_fail` gives the Flow's error."""
    with opened("async_flow", tmp_path) as module:
        result, _, _ = play(module.RenderFlow(), 0, "RenderProgress")
    assert (result.status, result.error_type) == ("FAILED", "STEP_DECISION_FAILED")
    assert result.error_message == "cannot render 0 frames"


def test_a_generator_step_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    """What it yields is sent and kept in order, and the second attempt counts no page twice."""
    book = ["one two", "three", "four five six", "seven", "eight nine"]
    with opened("sync_flow", tmp_path) as module:
        result, messages, attempts = play(module.BookFlow(), book, "Pages")
    assert result.output == 9
    assert attempts == 3
    assert messages == [
        "page 1: 2 words",
        "page 2: 3 words",
        "page 3: 6 words",
        "page 4: 7 words",
        "page 5: 9 words",
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.partition(".")[0])
def test_a_flow_file_takes_names_that_are_promised(path: Path) -> None:
    """Each name in its import is in `dexnb.__all__`."""
    block = path.read_text("utf-8").partition("from dex import (")[2].partition(")")[0]
    names = {name.strip() for name in block.split(",")} - {""}
    assert {"Flow", "Step"} <= names
    assert names <= set(dexnb.__all__)
