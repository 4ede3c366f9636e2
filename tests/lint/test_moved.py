"""A verdict stays when the call, the sleep or the beat moves into helpers, or cannot be told."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest

from dexnb.graph import read_source
from dexnb.lint import LintSettings, lint_paths
from dexnb.lint.paths import lint_reading

HEAD = """
from __future__ import annotations

import asyncio
from datetime import timedelta

from dexnb import AsyncContext, Context, Flow, Step, StepDecision, StepList, StepOptions
from dexnb import force_fail, graceful_complete
from sources import Source

"""
BASE = """
class GiveUp(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return force_fail("gave up")


class Base(Step[str]):
    def __init__(self, source: Source) -> None:
        self.source = source

    def get_step_options(self) -> StepOptions:
        longest = StepOptions(execute_method_timeout=timedelta(hours=4))
        return longest.on_execute_failure_proceed_to(GiveUp)

{base}
"""
STEP = """
class Wait(Base):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:
            job = await {call}
            if job.done:
                return graceful_complete()
            {beat}
            await {sleep}

{own}

class Polling(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(Wait(Source())).other_steps(GiveUp())
"""
PARTS = {
    "call": ("self.source.ask(input{limit})", "self, input: str", "input"),
    "sleep": ("asyncio.sleep(5)", "self", ""),
    "beat": ("context.heartbeat()", "self, context: AsyncContext", "context"),
}
METHOD = "    async def {name}({parameters}):\n        return await {body}\n\n"
PLACES = ("one level", "two levels", "three levels", "base class", "base class, two levels")


def helpers(part: str, place: str, body: str) -> tuple[str, str, str]:
    """Give the text of a part that has moved: its call, the Step's helpers, the base's."""
    parameters, given = PARTS[part][1:]
    levels = {"one level": 1, "base class": 1, "three levels": 3}.get(place, 2)
    text = ""
    for level in range(1, levels + 1):
        inner = f"self.{part}_{level + 1}({given})" if level < levels else body
        text += METHOD.format(name=f"{part}_{level}", parameters=parameters, body=inner)
    called = f"self.{part}_1({given})"
    return (called, "", text) if place.startswith("base") else (called, text, "")


def flow(moved: tuple[str, ...], place: str, *, limit: str, beats: bool) -> str:
    """Write a Flow whose parts `moved` are at a place, and the others in the loop itself."""
    bodies = {part: PARTS[part][0].format(limit=limit) for part in PARTS}
    own = base = ""
    for part in moved:
        bodies[part], here, there = helpers(part, place, bodies[part])
        own += here
        base += there
    beat = f"await {bodies['beat']}" if beats else "pass"
    filled = STEP.format(call=bodies["call"], sleep=bodies["sleep"], beat=beat, own=own)
    return HEAD + BASE.format(base=base) + filled


def verdicts(text: str) -> dict[str, str]:
    """Give what the rules say, by code."""
    reading = read_source(text)
    assert [flow.registered.flow_type for flow in reading.flows] == ["Polling"]
    return {each.code: each.verdict for each in lint_reading(reading, LintSettings())}


WRONG = {"DX103": "found", "DX104": "found", "DX201": "cannot tell"}
"""Without a limit of the call nobody can tell whether the sleep fits the heartbeat timeout."""

MOVES = (("call",), ("sleep",), ("beat",), ("call", "sleep", "beat"))
CASES = list(product(MOVES, PLACES))


@pytest.mark.parametrize(("moved", "place"), CASES)
def test_f_move_what_is_wrong_stays_wrong_wherever_it_stands(
    moved: tuple[str, ...], place: str
) -> None:
    """A call without a limit, and a loop that does not beat; behind three levels nobody can tell.

    A sleep that is hidden may be none, so that nobody can tell whether the loop pauses.
    """
    found = verdicts(flow(moved, place, limit="", beats=False))
    if place != "three levels" or moved == ("beat",):
        assert found == WRONG
    else:
        assert {"DX103", "DX104"} <= found.keys()
        assert "cannot tell" in found.values()


@pytest.mark.parametrize(("moved", "place"), CASES)
def test_f_move_what_is_right_stays_right_wherever_it_stands(
    moved: tuple[str, ...], place: str
) -> None:
    """Nothing is said of a good loop in pieces; what is hidden is never called wrong."""
    found = verdicts(flow(moved, place, limit=", timeout=3", beats=True))
    if place == "three levels":
        assert set(found.values()) <= {"cannot tell"}
    else:
        assert found == {}


FUNCTION = """
import asyncio


async def ask(source, name):
    return await source.ask(name)


async def pause(seconds):
    await asyncio.sleep(seconds)


async def beat(context):
    await context.heartbeat()
"""
NAMES = "from pieces import ask, beat, pause\n"


def in_functions(*, beats: bool) -> str:
    """Write the Flow with its parts in functions."""
    text = flow((), "", limit="", beats=beats)
    for old, new in (
        ("self.source.ask(input)", "ask(self.source, input)"),
        ("asyncio.sleep(5)", "pause(5)"),
        ("context.heartbeat()", "beat(context)"),
    ):
        text = text.replace(old, new)
    return text


def in_cells(*texts: str) -> str:
    """Write a notebook."""
    cells = [
        {"cell_type": "code", "id": f"c{n}", "metadata": {}, "source": text, "outputs": []}
        for n, text in enumerate(texts)
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})


@pytest.mark.parametrize("beats", [False, True])
@pytest.mark.parametrize("place", ["the same file", "another file", "another cell"])
def test_f_move_functions_are_followed_wherever_they_stand(
    place: str, beats: bool, tmp_path: Path
) -> None:
    """The call is found without a limit, at its own place; the beat is seen."""
    text = in_functions(beats=beats)
    path = tmp_path / ("flow.ipynb" if place == "another cell" else "flow.py")
    if place == "another cell":
        path.write_text(in_cells(FUNCTION, text), "utf-8")
    elif place == "another file":
        (tmp_path / "pyproject.toml").touch()
        (tmp_path / "pieces.py").write_text(FUNCTION, "utf-8")
        path.write_text(text.replace("class Base", f"{NAMES}\n\nclass Base", 1), "utf-8")
    else:
        path.write_text(text.replace("class Base", f"{FUNCTION}\n\nclass Base", 1), "utf-8")
    found = {each.code: each for each in lint_paths([path]).findings}
    expected = {code: verdict for code, verdict in WRONG.items() if code != "DX103" or not beats}
    assert {code: each.verdict for code, each in found.items()} == expected
    place_of_call = found["DX104"].place
    assert place_of_call.path.endswith("pieces.py") == (place == "another file")
    assert place_of_call.cell == ("c0" if place == "another cell" else "")


def test_a_loop_in_a_helper_is_judged_there() -> None:
    """The whole loop may stand one level away, its parts one further."""
    text = flow((), "", limit="", beats=False)
    moved = text.replace(
        "    async def execute(self, context: AsyncContext, input: str) -> StepDecision:\n",
        "    async def execute(self, context: AsyncContext, input: str) -> StepDecision:\n"
        "        return await self.loop(context, input)\n\n"
        "    async def loop(self, context: AsyncContext, input: str) -> StepDecision:\n",
    )
    assert verdicts(moved) == verdicts(text) == WRONG


def test_a_function_that_calls_itself_is_a_loop() -> None:
    """A poll may be written without a loop statement."""
    text = flow((), "", limit="", beats=False)
    begin, end = text.index("        while True:"), text.index("class Polling")
    recursion = (
        "        return await self.again(input)\n\n"
        "    async def again(self, input: str) -> StepDecision:\n"
        "        job = await self.source.ask(input)\n"
        "        if job.done:\n"
        "            return graceful_complete()\n"
        "        await asyncio.sleep(5)\n"
        "        return await self.again(input)\n\n\n"
    )
    found = verdicts(text[:begin] + recursion + text[end:])
    # What it decides in the end is behind as many calls as there are rounds.
    assert found == {**WRONG, "DX403": "cannot tell"}
