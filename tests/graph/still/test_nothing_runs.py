"""Whatever stands in a text, reading it runs nothing of it, and no text may stall the reader."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import CellType, FunctionType

import pytest

from dexnb.flow.registry import read_flow
from dexnb.graph import read_graph, read_source
from dexnb.graph.source import Tree
from dexnb.graph.still.machine import Machine
from dexnb.graph.still.names import Module, Names
from dexnb.graph.still.neighbours import Neighbours
from dexnb.graph.still.unit import definitions, first_line, parse_unit
from tests.graph.still.texts import END, HEAD

HOSTILE = Path(__file__).with_name("hostile.py.txt").read_text()
FIRES = {
    "module", "system", "f-string", "metaclass new", "metaclass call", "class keyword",
    "init subclass", "class getitem", "mro entries", "set name", "eq", "hash", "bool", "iter",
    "getattribute", "format", "repr", "decorator", "annotation", "default", "result", "member",
    "missing", "field", "factory", "post init", "pair", "total", "rpc", "class body", "new", "init",
}  # fmt: skip
SLOWEST = 10.0
"""Seconds in which any text must be read, on a busy machine too."""


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the file that the hostile text writes to."""
    file = tmp_path / "mark"
    monkeypatch.setenv("MARK", str(file))
    return file


def test_the_hostile_text_does_fire_where_it_runs(mark: Path, tmp_path: Path) -> None:
    """Else the other tests would prove nothing."""
    script = tmp_path / "hostile.py"
    script.write_text(HOSTILE)
    subprocess.run([sys.executable, script], env={**os.environ, "MARK": str(mark)}, check=True)
    assert set(mark.read_text().splitlines()) >= FIRES


def test_reading_a_hostile_text_runs_nothing_of_it(mark: Path, tmp_path: Path) -> None:
    """As a file, with its graph; and the Flow is there all the same."""
    script = tmp_path / "hostile.py"
    script.write_text(HOSTILE)
    reading = read_source(script)
    assert [flow.registered.flow_type for flow in reading.flows] == ["Hostile"]
    assert "step:Poll" in {node.id for node in reading.flows[0].graph.nodes}
    assert "resource:channel:others" in {node.id for node in reading.flows[0].graph.nodes}
    assert not mark.exists()
    assert "hostile" not in sys.modules


def test_what_reads_live_flows_runs_nothing_of_a_stand_in(mark: Path) -> None:
    """Registered and read again, and thrown away."""
    reading = read_source(HOSTILE)
    flow = reading.flows[0].registered.flow
    assert read_graph(read_flow(flow)) == read_graph(flow)
    del reading, flow
    assert not mark.exists()


def test_no_code_that_functions_are_made_of_can_run(mark: Path) -> None:
    """Each raises before its first statement, however it is called."""
    unit = read_source(HOSTILE).units[0]
    trees = [tree for tree in definitions(unit.tree.body) if isinstance(tree, Tree)]
    assert len(trees) > 35
    for tree in trees:
        code = unit.codes[(first_line(tree), tree.name)]
        cells = tuple(CellType(None) for _ in code.co_freevars)
        function = FunctionType(code, {"fire": _fire(mark)}, tree.name, None, cells)
        with pytest.raises((TypeError, ZeroDivisionError), match=r"exceptions must|division"):
            _call(function)
    assert not mark.exists()


def _call(function: FunctionType) -> None:
    made = function(*[None] * function.__code__.co_argcount)
    asyncio.run(made)


def _fire(mark: Path) -> Callable[..., None]:
    return lambda *_: mark.touch()


BOMBS = {
    "power": "X = 10 ** 10 ** 10",
    "powers": "X = 9 ** 9\n" + "X = X ** 60\n" * 50,
    "shift": "X = 1 << 10 ** 12",
    "repetition": 'X = "a" * 10 ** 9\nY = [0] * 10 ** 9\nZ = (1,) * 10 ** 9 * 10 ** 9',
    "doubling": "X = 'ab'\n" + "X = X + X\n" * 200,
    "lists": "X = [1, 2]\n" + "X = X + X\n" * 200,
    "nested lists": "X = []\n" + "X = [X, X, X, X, X, X, X, X]\n" * 60,
    "ranges": "X = list(range(10 ** 9))\nY = [i for i in range(10 ** 9)]\n"
    "for i in range(10 ** 9):\n    pass\n",
    "products": "X = [a for a in range(900) for b in range(900) for c in range(900)]",
    "while": "while True:\n    pass\n",
    "recursion": "def f(x):\n    return f(x) + f(x)\nX = f(1)\n",
    "many calls": "def f(x):\n    return [g(i) for i in range(900)]\ndef g(x):\n    return "
    "[h(i) for i in range(900)]\ndef h(x):\n    return [i for i in range(900)]\nX = f(1)\n",
    "format": "X = f'{1:>1000000000}'\nY = '%1000000000d' % 1\nZ = 'a'.ljust(10**9)",
    "digits": "X = int('9' * 4000) ** 60\nY = str(X)",
    "unions": "X = int\n" + "X = X | list[X]\n" * 40,
}
UNREADABLE = {
    "digits": "X = " + "9" * 5000 + "\n",
    "minus": "X = " + "-" * 100_000 + "1\n",
    "brackets": "X = " + "[" * 100_000 + "\n",
    "dots": "X = a" + ".b" * 100_000 + "\n",
    "plus": "X = 1" + "+1" * 100_000 + "\n",
    "lambdas": "X = " + "lambda: " * 50_000 + "1\n",
    "zeros": "X = 1\n\0",
    "indents": "".join(" " * depth + "if 1:\n" for depth in range(200)),
    "large": "X = 1\n" * 200_000,
    "no Python": "def (:\n",
    "surrogate": "X = '\ud800'\n\udcff\n",
}
FLOW = """
from dexnb import Flow, Step, StepList, Context, StepDecision, graceful_complete
class S(Step[None]):
    def execute(self, context: Context, input: None) -> StepDecision:
        return graceful_complete()
class F(Flow[None]):
    def get_steps(self) -> StepList[None]:
        return StepList.start_step(S())
"""


def test_a_step_with_very_many_ways_through_it_is_drawn_quickly() -> None:
    """Each way has its decision; what leads to it is cut to what can be read."""
    ways = "".join(
        f"        if input is {n}:\n            return graceful_complete({n})\n" for n in range(300)
    )
    before = time.monotonic()
    reading = read_source(FLOW.replace("        return graceful", f"{ways}        return graceful"))
    assert time.monotonic() - before < SLOWEST
    kinds = [node.kind for node in reading.flows[0].graph.nodes]
    assert kinds.count("decision") == 301


@pytest.mark.parametrize("name", BOMBS)
def test_a_text_that_would_take_all_memory_or_time_is_read_quickly(name: str) -> None:
    """What is too large is not known, and the Flow beside it is found."""
    before = time.monotonic()
    reading = read_source(f"{FLOW}\n{BOMBS[name]}\n")
    assert time.monotonic() - before < SLOWEST
    assert [flow.registered.flow_type for flow in reading.flows] == ["F"]


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_text_that_cannot_be_parsed_is_a_problem_and_no_exception(name: str) -> None:
    """It says so within seconds."""
    before = time.monotonic()
    reading = read_source(f"{FLOW}\n{UNREADABLE[name]}\n")
    assert time.monotonic() - before < SLOWEST
    assert [problem.kind for problem in reading.problems] == ["not-parsed"]
    assert reading.flows == ()


@pytest.mark.parametrize(
    "data", [b"\xff\xfe", b"# coding: punycode\nX = 1\n", b"# coding: nothing\n", b"\x80\n"]
)
def test_a_file_in_another_encoding_is_a_problem(data: bytes, tmp_path: Path) -> None:
    """Slow codecs are not even tried."""
    file = tmp_path / "text.py"
    file.write_bytes(data)
    assert [problem.kind for problem in read_source(file).problems] == ["not-parsed"]


def test_what_is_no_file_is_a_problem(tmp_path: Path) -> None:
    """A folder, a device, and nothing at all."""
    for path in (tmp_path, Path(os.devnull), tmp_path / "missing.py"):
        assert [problem.kind for problem in read_source(path).problems] == ["not-parsed"]


def test_a_latin_file_is_read_by_its_own_word(tmp_path: Path) -> None:
    """As Python reads it."""
    file = tmp_path / "text.py"
    file.write_bytes(b"# coding: latin-1\n" + f"{FLOW}\nX = '\xe9'\n".encode("latin-1"))
    reading = read_source(file)
    assert reading.module.namespace["X"] == "\xe9"
    assert len(reading.flows) == 1


KEY = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
SECRETS = f"""
from nowhere import build, clean
class S([build, Step]["{KEY}"]):
    async def execute(self, context, input: str) -> StepDecision:
        return graceful_complete()
class Two(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        password = input
        match password:
            case "hunter2": return go_to(End, 4)
            case ("hunter3", _): return go_to(End, 5)
            case "hunter4" | "hunter5": return go_to(End, 6)
        match input:
            case "{KEY}": return go_to(End, 1)
            case {{"of": "{KEY}"}}: return go_to(End, 2)
        match input:
            case [{", ".join(f'"part {n}"' for n in range(90))}]: return go_to(End, 3)
        return graceful_complete()
    @clean["{KEY}"]
    def get_step_options(self) -> StepOptions:
        return StepOptions(heartbeat_timeout=build(token="hunter6", more="{"x " * 900}"))
class Secretive(Flow[str]):
    def get_steps(self):
        return StepList.start_step(Two()).other_steps(S(), End())
"""


def test_no_message_of_a_text_shows_its_secrets() -> None:
    """Neither what is hidden, nor what a case, a base or a decorator says."""
    reading = read_source(f"{HEAD}{END}{SECRETS}")
    (flow,) = reading.flows
    shown = f"{reading.problems} {json.dumps(flow.graph.to_json())}"
    assert "only running the code could tell" in shown
    assert "password == '<hidden>'" in shown
    assert "input == '<hidden>'" in shown
    assert "has the base [build, Step]['<hidden>']" in shown
    assert "without its decorator clean['<hidden>']" in shown
    assert not re.findall("ghp_|hunter.", shown)
    assert max(len(each.message) for each in reading.problems) < 240


def test_very_many_problems_are_each_told_once_and_quickly() -> None:
    """None is looked for among all others."""
    machine = Machine(Neighbours())
    names = Names({}, "module", Module("m"), parse_unit("x = 1"))
    many = 10_000
    before = time.process_time()
    for number in range(2 * many):
        machine.note("cannot-tell", f"{number % many}", names, None)
    assert len(machine.problems) == many
    assert time.process_time() - before < SLOWEST / 5
