"""`%dexnb`: the linter and the graph for the cells of this notebook, by their text alone."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from dexnb.errors import DefinitionError
from dexnb.graph.flow_picture import FlowPicture
from dexnb.graph.still import FoundFlow, SourceReading
from dexnb.graph.still.reading import SourceReader
from dexnb.jupyter.findings_shown import FindingsShown
from dexnb.lint import explain, lint_paths, lint_reading
from dexnb.lint.config import config_near
from dexnb.lint.runner import in_order
from dexnb.model.finding import Finding

KERNEL = "kernel.ipynb"
"""The name under which the cells that ran are read; their neighbours are those of the folder."""

USAGE = """\
Look at Flows; nothing of what is looked at is run.

%dexnb lint [FLOW]...      the Flows of the cells that ran here, or these of them
%dexnb lint PATH...        files, notebooks, folders
%dexnb graph [FLOW]        the definition graph of a Flow of these cells, with its findings
%dexnb explain RULE        what a rule means, why, and what to do instead

Settings are those of [tool.dexnb.lint] in the nearest pyproject.toml. A comment silences a rule on
its line: # dexnb: ignore[DX104]
"""


class Magic:
    """Answers `%dexnb`.

    Args:
        cells: The number and the text of each cell that has run by the time it is asked.
    """

    def __init__(self, cells: Iterable[tuple[int, str]]) -> None:
        """Ask this kernel for its cells."""
        self._cells = cells

    def __call__(self, line: str) -> Any:
        """Look at Flows: lint them, draw them, explain a rule."""
        command, *given = line.split() or [""]
        if command == "lint":
            return self._lint(given)
        if command == "graph" and len(given) <= 1:
            return self._graph(given[0] if given else "")
        if command == "explain" and len(given) == 1:
            return _Text(explain(given[0]))
        if line.strip():
            message = f"%dexnb {line.strip()} is no command; there are:\n{USAGE}"
            raise DefinitionError(message)
        return _Text(USAGE)

    def _lint(self, given: list[str]) -> FindingsShown:
        settings = config_near(Path.cwd()).settings
        paths = [name for name in given if Path(name).exists()]
        if paths and len(paths) < len(given):
            raise DefinitionError("%dexnb lint: give Flows of the cells, or files and folders")
        if paths:
            report = lint_paths(paths, settings=settings)
            return FindingsShown(report.findings, _counted(len(report.files), "file"))
        reading = self._reading()
        for name in given:
            _flow(reading, name)
        found = lint_reading(reading, settings)
        # Before each place is told once: a Step may belong to several Flows.
        chosen = [each for each in found if not given or each.flow in given]
        flows = len(given) if given else len(reading.flows)
        return FindingsShown(_in_order(chosen, reading), _counted(flows, "Flow"))

    def _graph(self, name: str) -> FlowPicture:
        reading = self._reading()
        if not name and len(reading.flows) > 1:
            raise DefinitionError(f"%dexnb graph FLOW: name one; {_known(reading)}")
        flow = _flow(reading, name)
        findings = lint_reading(reading, config_near(Path.cwd()).settings)
        own = [each for each in findings if each.flow == flow.graph.name]
        return FlowPicture(flow.graph, _in_order(own, reading))

    def _reading(self) -> SourceReading:
        """Read the cells that ran, of equal ones the last."""
        latest = {text: number for number, text in self._cells}
        cells = [
            {"cell_type": "code", "id": f"In [{number}]", "source": text}
            for text, number in sorted(latest.items(), key=lambda item: item[1])
        ]
        document = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
        return SourceReader().read_text(json.dumps(document), KERNEL)


class _Text(str):
    """Shows as it is where a notebook shows a result."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _flow(reading: SourceReading, name: str) -> FoundFlow:
    """Give the Flow of a name, or the first one for none."""
    found = next((flow for flow in reading.flows if name in ("", flow.graph.name)), None)
    if found is None:
        raise DefinitionError(f"there is no Flow or file {name!r}; {_known(reading)}")
    return found


def _known(reading: SourceReading) -> str:
    names = ", ".join(flow.graph.name for flow in reading.flows)
    return f"the cells that ran here define {names or 'none'}"


def _in_order(findings: list[Finding], reading: SourceReading) -> list[Finding]:
    """Sort findings by the order of the cells, and leave the made-up file name out."""
    return [_here(each) for each in in_order(findings, reading.units)]


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _here(finding: Finding) -> Finding:
    """Leave the made-up name out of a place in a cell."""
    place = finding.place
    return replace(finding, place=replace(place, path="")) if place.path == KERNEL else finding
