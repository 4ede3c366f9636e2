"""Where a name comes from is the same for a Flow that is alive and for its text."""

from __future__ import annotations

import ast
import importlib.util
import linecache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from dexnb.graph import read_source
from dexnb.graph.frames import Frame, read_frame
from dexnb.graph.origin import origin_of
from dexnb.graph.place import cell_label, name_cells, place_of
from dexnb.graph.read import frame_of
from dexnb.model.finding import Place
from tests.graph.still.texts import HEAD

TEXT = (
    HEAD
    + """
import time
import os.path
import asyncio as aio
import anyio
import httpx
from asyncio import sleep as pause, tasks
from httpx import AsyncClient, get
from time import sleep
from functools import partial

SESSION = httpx.Client()

class Own:
    def fetch(self):
        return None

class S(Step[int]):
    def __init__(self, client: httpx.AsyncClient, own: Own) -> None:
        self.client = client
        self.made = httpx.Client()
        self.own = own

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        import json as j
        from random import random as dice
        session = AsyncClient(timeout=1)
        one = get if input else get
        two = get if input else sleep
        time.sleep(1)  # time.sleep
        sleep(1)  # time.sleep
        pause(1)  # asyncio.sleep
        aio.sleep(1)  # asyncio.sleep
        tasks.wait_for(1, 2)  # asyncio.wait_for
        aio.tasks.wait_for(1, 2)  # asyncio.wait_for
        anyio.sleep(1)  # anyio.sleep
        get("x")  # httpx.get
        httpx.get("x")  # httpx.get
        one("x")  # httpx.get
        two("x")  #
        os.path.exists("x")  # os.path.exists
        j.dumps(1)  # json.dumps
        dice()  # random.random
        session.post("x")  # httpx.AsyncClient().post
        AsyncClient().post("x")  # httpx.AsyncClient().post
        (await session.get("x")).json()  # httpx.AsyncClient().get().json
        SESSION.get("x")  # httpx.Client().get
        self.client.get("x")  # httpx.AsyncClient().get
        self.made.get("x")  # httpx.Client().get
        async with AsyncClient() as entered, aio.timeout(1):
            entered.get("x")  # httpx.AsyncClient().get
        self.nothing()  #
        unknown()  #
        print("x")  # builtins.print
        [].append(1)  #
        return self.help(session)

    def help(self, client: Any) -> StepDecision:
        client.put("x")  # httpx.AsyncClient().put
        return graceful_complete()

class F(Flow[int]):
    def __init__(self, client: httpx.AsyncClient, own: Own) -> None:
        self.client = client
        self.own = own
    def get_steps(self) -> StepList[int]:
        return StepList.start_step(S(self.client, self.own))
"""
)


def _origins(frame: Frame, lines: list[str]) -> dict[str, str]:
    """Give the origin of the call that begins each line with a comment."""
    found: dict[str, str] = {}
    for call in frame.calls():
        line = lines[call.lineno - 1]
        code, _, comment = line.partition("  #")
        if comment or line.endswith("  #"):
            starts = code.strip().startswith(ast.unparse(call).split("(")[0].split(".")[0])
            if (call.col_offset == len(code) - len(code.lstrip()) and starts) or "(await" in line:
                found.setdefault(line.strip(), origin_of(call.func, frame))
    return found


def _frames(step: Any) -> list[Frame]:
    frame = frame_of(step, "execute")
    assert frame is not None
    call = next(call for call in frame.calls() if ast.unparse(call.func) == "self.help")
    helper = frame.follow(call)
    assert helper is not None
    return [frame, helper]


def _expected(lines: list[str]) -> dict[str, str]:
    marked = [line.strip() for line in lines if "  #" in line]
    return {line: line.partition("  #")[2].strip() for line in marked}


def test_origins_of_a_text_are_those_of_the_module_alive(tmp_path: Path) -> None:
    """By whatever way a name came to be."""
    file = tmp_path / "origins_module.py"
    file.write_text(TEXT)
    lines = TEXT.split("\n")
    step = read_source(file).flows[0].registered.steps["S"].step
    spec = importlib.util.spec_from_file_location("origins_module", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    live = module.S(module.AsyncClient(), module.Own())
    for found in (step, live):
        origins: dict[str, str] = {}
        for frame in _frames(found):
            origins |= _origins(frame, lines)
        assert origins == _expected(lines)
    module.SESSION.close()
    live.made.close()


@pytest.mark.parametrize(
    ("value", "origin"),
    [(None, ""), (Path.cwd, "pathlib.Path.cwd"), (ast, "ast"), (Path(), "pathlib.PosixPath()")],
)
def test_a_value_has_an_origin_too(value: object, origin: str) -> None:
    """That of its class, for an object."""
    frame = _frames(read_source(TEXT).flows[0].registered.steps["S"].step)[0]
    assert origin_of(value, frame) == origin


def test_names_that_are_assigned_many_times_are_looked_up_quickly() -> None:
    """Each is looked up once, however many assignments name it or one another."""
    names = [f"n{number}" for number in range(12)]
    body = [f"        {one} = {two}" for one, two in pairwise(names) for _ in range(20)]
    refined = "        q = q.filter(1)\n" * 60
    text = TEXT.replace("        [].append(1)", "\n".join([refined, *body, "        [].append(1)"]))
    frame = _frames(read_source(text).flows[0].registered.steps["S"].step)[0]
    assert origin_of(ast.Name("q"), frame) == ""
    assert origin_of(ast.Name("n0"), frame) == ""
    assert origin_of(ast.Name("session"), frame) == "httpx.AsyncClient()"


def test_a_place_is_that_of_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its path as it was given, and columns in characters; live, relative to where one works."""
    file = tmp_path / "places_module.py"
    file.write_text(TEXT.replace("time.sleep(1)  #", 'x = "äö"; time.sleep(1)  #'))
    monkeypatch.chdir(tmp_path)
    lines = file.read_text().split("\n")
    line = next(number for number, text in enumerate(lines, 1) if "äö" in text)
    frame = _frames(read_source("places_module.py").flows[0].registered.steps["S"].step)[0]
    spec = importlib.util.spec_from_file_location("places_module", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for each in (frame, _frames(module.S(None, module.Own()))[0]):
        call = next(call for call in each.calls() if call.lineno == line)
        place = place_of(each, call)
        assert place == Place("places_module.py", "", line, 18, line, 31)
        assert lines[line - 1][place.column : place.end_column] == "time.sleep(1)"
        assert place_of(each.scope.function).line == each.tree.lineno
    monkeypatch.chdir("/")
    assert place_of(module.S.execute).path in ("places_module.py", str(file)[1:])
    module.SESSION.close()


def test_cells_of_a_kernel_have_labels() -> None:
    """What the kernel says, or what the name of the cell's code says."""
    assert cell_label("<ipython-input-3-abc>") == "In [3]"
    assert cell_label("flow.py") == ""
    name_cells(lambda file: "In [7]" if file == "cell.py" else "")
    try:
        assert cell_label("cell.py") == "In [7]"
    finally:
        name_cells(lambda _: "")


def test_a_file_that_is_loaded_again_has_its_imports_of_now() -> None:
    """What it imported before the edit is forgotten."""
    name = "<edited imports>"
    found = []
    try:
        for home in ("asyncio.tasks", "asyncio"):
            text = f"from {home} import sleep\ndef f():\n    sleep(1)\n"
            linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
            space: dict[str, Any] = {"__name__": "edited"}
            exec(compile(text, name, "exec"), space)  # noqa: S102 - a module, loaded again
            frame = read_frame(space["f"])
            assert frame is not None
            found.append(origin_of(ast.Name("sleep"), frame))
    finally:
        del linecache.cache[name]
    assert found == ["asyncio.tasks.sleep", "asyncio.sleep"]
