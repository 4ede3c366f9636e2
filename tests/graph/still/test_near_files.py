"""Imports of a text: from files beside it, and from nowhere else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dexnb.graph import read_source
from dexnb.graph.still import SourceReader, SourceReading
from tests.graph.still.texts import END, HEAD

BASE = f"""{HEAD}{END}
PAUSE = timedelta(seconds=3)
class Base(Step[int]):
    pause = PAUSE
    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        await asyncio.sleep(self.pause.total_seconds())
        return await self.decide(input)
    async def decide(self, input: int) -> StepDecision:
        return go_to(End, input)
    def get_step_options(self) -> StepOptions:
        return StepOptions(heartbeat_timeout=PAUSE * 10)
class Looped(Base):
    async def decide(self, input: int) -> StepDecision:
        return go_to(type(self), input) if input else await super().decide(input)
class Imported(Flow[int]):
    def get_steps(self) -> StepList[int]:
        return StepList.start_step(End())
"""
FLOW = """
class Poll({base}):
    pause = {pause} * 2
class F(Flow[int]):
    def get_steps(self) -> StepList[int]:
        return StepList.start_step(Poll()).other_steps({end}())
"""
IMPORTS = [
    ("from base import Base, PAUSE, End", "Base", "PAUSE", "End"),
    ("from base import *", "Base", "PAUSE", "End"),
    ("import base", "base.Base", "base.PAUSE", "base.End"),
    ("import base as b", "b.Base", "b.PAUSE", "b.End"),
    ("from base import Base as B, PAUSE as P, End as E", "B", "P", "E"),
    (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from base import *",
        "Base",
        "PAUSE",
        "End",
    ),
    ("try:\n    from base import *\nexcept ImportError:\n    Base = None", "Base", "PAUSE", "End"),
]
IN_PACKAGE = [
    ("from .base import Base, PAUSE, End", "Base", "PAUSE", "End"),
    ("from . import base", "base.Base", "base.PAUSE", "base.End"),
    ("from ..pack.base import *", "Base", "PAUSE", "End"),
    ("from pack.base import *", "Base", "PAUSE", "End"),
    ("import pack.base", "pack.base.Base", "pack.base.PAUSE", "pack.base.End"),
    ("from pack import Base, PAUSE, End", "Base", "PAUSE", "End"),
]


def read(folder: Path, imports: str, base: str, pause: str, end: str) -> SourceReading:
    """Write a Flow that imports its Step's base, and read it."""
    file = folder / "flow.py"
    text = HEAD + imports + FLOW.format(base=base, pause=pause, end=end)
    file.write_text(text)
    return read_source(file)


@pytest.mark.parametrize("form", IMPORTS)
def test_a_base_class_in_a_file_beside_is_found(form: tuple[str, ...], tmp_path: Path) -> None:
    """With its constants, its helper and its options; its Flows are not this text's."""
    (tmp_path / "base.py").write_text(BASE)
    check(read(tmp_path, *form))
    assert "base" not in sys.modules


@pytest.mark.parametrize("form", IN_PACKAGE)
def test_a_base_class_in_the_same_package_is_found(form: tuple[str, ...], tmp_path: Path) -> None:
    """By relative and absolute imports, and through the package itself."""
    folder = tmp_path / "pack"
    folder.mkdir()
    (folder / "__init__.py").write_text("from .base import Base, PAUSE, End\n")
    (folder / "base.py").write_text(BASE)
    check(read(folder, *form))
    assert "pack" not in sys.modules


def check(reading: SourceReading) -> None:
    """Check that the whole Flow is known."""
    assert reading.problems == ()
    assert [flow.registered.flow_type for flow in reading.flows] == ["F"]
    graph = reading.flows[0].graph
    poll = graph.nodes[0]
    assert poll.id == "step:Poll"
    assert poll.settings is not None
    assert poll.settings["heartbeat_timeout"] == 30.0
    assert [timing.value for timing in poll.timings] == [6.0, 30.0]
    assert {edge.id for edge in graph.edges} == {"transition:Poll:End"}


def test_a_file_beside_a_package_is_not_taken_for_an_absolute_import(tmp_path: Path) -> None:
    """Python would not find it there either."""
    folder = tmp_path / "pack"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "base.py").write_text(BASE)
    reading = read(folder, "from base import Base, PAUSE, End", "Base", "PAUSE", "End")
    assert reading.flows[0].problems
    assert reading.module.get("PAUSE").origin == "base.PAUSE"


def test_a_base_class_that_is_not_found_is_said_not_to_be_known(tmp_path: Path) -> None:
    """The Flow is drawn as far as it can be."""
    reading = read(tmp_path, "from nowhere import Base, PAUSE\n" + END, "Base", "PAUSE", "End")
    flow = reading.flows[0]
    assert {each.kind for each in flow.problems} == {"cannot-tell"}
    assert any("nowhere.Base" in each.message for each in flow.problems)
    assert "step:End" in {node.id for node in flow.graph.nodes}


def test_files_that_import_each_other_are_read(tmp_path: Path) -> None:
    """Each name that is there by then is known."""
    (tmp_path / "base.py").write_text(BASE.replace("PAUSE =", "from flow import F\nPAUSE =", 1))
    check(read(tmp_path, "from base import *", "Base", "PAUSE", "End"))


def test_a_file_beside_that_cannot_be_parsed_leaves_its_names_unknown(tmp_path: Path) -> None:
    """It is reported where it is linted itself."""
    (tmp_path / "base.py").write_text("class (:")
    reading = read(tmp_path, "from base import Base, PAUSE, End", "Base", "PAUSE", "End")
    assert all(each.place.path.endswith("flow.py") for each in reading.problems)


def test_a_project_above_gives_the_roots_of_absolute_imports(tmp_path: Path) -> None:
    """Its marked folder is the last that is looked through; folders above are nobody's business."""
    inner = tmp_path / "project" / "flows" / "daily"
    inner.mkdir(parents=True)
    (tmp_path / "project" / "pyproject.toml").write_text("")
    (tmp_path / "project" / "shared").mkdir()
    (tmp_path / "project" / "shared" / "base.py").write_text(BASE)
    check(read(inner, "from shared.base import *", "Base", "PAUSE", "End"))
    (tmp_path / "above.py").write_text(BASE)
    reading = read(inner, "from above import *", "Base", "PAUSE", "End")
    assert any(each.kind == "cannot-tell" for each in reading.problems)


def test_a_text_without_a_path_knows_no_neighbours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is called by a path does."""
    (tmp_path / "base.py").write_text(BASE)
    monkeypatch.chdir(tmp_path)
    text = f"from base import *\n{FLOW.format(base='Base', pause='PAUSE', end='End')}"
    assert "PAUSE" not in read_source(HEAD + text).module.namespace
    check(read_source(HEAD + text, path=str(tmp_path / "new.py")))


def test_a_package_that_imports_its_own_part_is_read(tmp_path: Path) -> None:
    """Its name for it is the part itself, in whatever order they are looked up."""
    folder = tmp_path / "pack"
    folder.mkdir()
    (folder / "__init__.py").write_text("from . import base\nfrom pack import base as again\n")
    (folder / "base.py").write_text(BASE)
    form = "from pack import again as base"
    check(read(tmp_path, form, "base.Base", "base.PAUSE", "base.End"))


MANY = {
    "a_flow.py": f"""{HEAD}from b_step import Begin, End
class F(Flow[int]):
    def get_steps(self) -> StepList[int]:
        return StepList.start_step(Begin()).other_steps(End())
""",
    "b_step.py": f"""{HEAD}from c_end import End, Told
class Begin(Step[int]):
    def execute(self, context: Context, input: int) -> StepDecision:
        return go_to(End, Told(1))
""",
    "c_end.py": f"""{HEAD}
@dataclass
class Told:
    count: int
class End(Step[Told]):
    def execute(self, context: Context, input: Told) -> StepDecision:
        return graceful_complete()
""",
}


@pytest.mark.parametrize("order", [sorted(MANY), sorted(MANY, reverse=True)])
def test_steps_of_other_files_have_their_annotations(order: list[str], tmp_path: Path) -> None:
    """In whatever order the files are read."""
    for name, text in MANY.items():
        (tmp_path / name).write_text(text)
    reader = SourceReader()
    readings = [reader.read(tmp_path / name) for name in order]
    assert [reading.problems for reading in readings] == [(), (), ()]
    (flow,) = (flow for reading in readings for flow in reading.flows)
    inputs = {
        name: step.handler.input_type.__name__ for name, step in flow.registered.steps.items()
    }
    assert inputs == {"Begin": "int", "End": "Told"}


@pytest.mark.parametrize("order", [["a_flow.py", "b_step.py"], ["b_step.py", "a_flow.py"]])
def test_a_wrong_annotation_in_another_file_is_told(order: list[str], tmp_path: Path) -> None:
    """By what is written there, and not as if nothing were."""
    for name, text in MANY.items():
        (tmp_path / name).write_text(text.replace("-> StepDecision", "-> int"))
    reader = SourceReader()
    readings = {name: reader.read(tmp_path / name) for name in order}
    (flow,) = readings["a_flow.py"].flows
    wrong = [each.message for each in flow.problems]
    assert len(wrong) == 2
    assert not any("not annotated" in each for each in wrong), wrong
