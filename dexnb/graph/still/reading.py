"""`read_source`: the Flows of a file, a notebook or a text, read without running any of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from dexnb.flow.flow import Flow
from dexnb.flow.registry import RegisteredFlow
from dexnb.graph.still.attributes import derives
from dexnb.graph.still.found import Flows, FoundFlow
from dexnb.graph.still.machine import Machine
from dexnb.graph.still.names import Module
from dexnb.graph.still.neighbours import Neighbours, named
from dexnb.graph.still.notebook import Cell, read_cells
from dexnb.graph.still.problem import SourceProblem
from dexnb.graph.still.text import UnreadableText, checked, most_bytes, read_text
from dexnb.graph.still.unit import NotParsed, Unit, parse_unit
from dexnb.model.finding import Place

NOTEBOOK = ".ipynb"


@dataclass(frozen=True, slots=True, eq=False)
class SourceReading:
    """What a source text defines.

    Args:
        path: Its file, as it was named by who asked; empty for a text without one.
        units: The file, or each cell of a notebook that could be parsed.
        flows: The Flows that it defines, in the order of their definitions.
        problems: What could not be read of it, and of each of its Flows.
        module: Its names, with what stands for them.
    """

    path: str
    units: tuple[Unit, ...]
    flows: tuple[FoundFlow, ...]
    problems: tuple[SourceProblem, ...]
    module: Module

    @property
    def registered(self) -> tuple[RegisteredFlow, ...]:
        """The Flows as a registry keeps them, for readers of live ones."""
        return tuple(flow.registered for flow in self.flows)


def read_source(path_or_text: str | PathLike[str], *, path: str = "") -> SourceReading:
    """Read the Flows of a source text; nothing of it is imported or run.

    A text that cannot be read is one of the problems, never an exception.

    Args:
        path_or_text: A file's or notebook's path; or a text, which has more than one line.
        path: What a text is called, as of an editor's unsaved file: its neighbours are found there.
    """
    reader = SourceReader()
    if isinstance(path_or_text, str) and "\n" in path_or_text:
        return reader.read_text(path_or_text, path)
    return reader.read(path_or_text)


class SourceReader:
    """Reads many texts; what they import from beside them is read once."""

    def __init__(self) -> None:
        """Know no text yet."""
        self._machine = Machine(Neighbours())

    def read(self, path: str | PathLike[str]) -> SourceReading:
        """Read a file or a notebook."""
        try:
            text = read_text(Path(path), most_bytes(str(path)))
        except UnreadableText as error:
            return self._unreadable(str(path), str(error))
        return self.read_text(text, str(path))

    def read_text(self, text: str, path: str = "") -> SourceReading:
        """Read a text; one with the path of a notebook is the notebook's JSON."""
        machine = self._machine
        machine.begin()
        try:
            checked(text, most_bytes(path))
            if path.endswith(NOTEBOOK):
                units = tuple(self._cells(read_cells(text), path))
            else:
                units = tuple(self._parsed(text, path))
        except UnreadableText as error:
            return self._unreadable(path, str(error))
        module = _module(path)
        machine.opened(module)
        for unit in units:
            machine.follow(unit, module)
        machine.finish()
        flows = tuple(Flows(machine).read(_flow_classes(module), module))
        problems = (*machine.problems, *(each for flow in flows for each in flow.problems))
        return SourceReading(path, units, flows, tuple(dict.fromkeys(problems)), module)

    def instance(self, class_: type, *args: Any) -> Any:
        """Give an instance of a stand-in, as if it were made with these arguments."""
        return self._machine.instances.make(class_, list(args), {})

    def _parsed(self, text: str, path: str) -> Iterator[Unit]:
        try:
            yield parse_unit(text, path)
        except NotParsed as error:
            self._not_parsed(error, Place(path, "", error.line, error.column, error.line))

    def _cells(self, cells: list[Cell], path: str) -> Iterator[Unit]:
        for cell in cells:
            if cell.skipped:
                place = Place(path, cell.id, 1)
                self._machine.tell(SourceProblem("skipped", cell.skipped, place))
                continue
            try:
                yield parse_unit(cell.code, path, cell.id, cell.text)
            except NotParsed as error:
                self._not_parsed(error, Place(path, cell.id, error.line, error.column, error.line))

    def _not_parsed(self, error: NotParsed, place: Place) -> None:
        message = f"cannot be read as Python: {error}"
        self._machine.tell(SourceProblem("not-parsed", message, place))

    @staticmethod
    def _unreadable(path: str, message: str) -> SourceReading:
        problem = SourceProblem("not-parsed", f"{path or 'the text'} {message}", Place(path))
        return SourceReading(path, (), (), (problem,), _module(path))


def _module(path: str) -> Module:
    if not path or path.endswith(NOTEBOOK):
        return Module("__main__", "", path)
    name, package = named(Path(path).absolute())
    return Module(name, package, path)


def _flow_classes(module: Module) -> list[type[Flow[Any]]]:
    """Give the Flow classes that were defined, of those of one name the last."""
    found: dict[str, type[Flow[Any]]] = {}
    for class_ in module.classes:
        if derives(class_, Flow):
            found.pop(class_.__qualname__, None)
            found[class_.__qualname__] = class_
    return list(found.values())
