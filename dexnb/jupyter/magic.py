"""`%dexnb`: the linter and the graph for the cells of this notebook, by their text alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from dexnb.errors import DefinitionError
from dexnb.graph.flow_picture import FlowPicture
from dexnb.graph.still.reading import SourceReader, SourceReading
from dexnb.jupyter.findings_shown import FindingsShown
from dexnb.lint import LintReport, explain, lint_paths, lint_reading
from dexnb.lint.config import config_near
from dexnb.lint.runner import in_order
from dexnb.model.finding import Finding

KERNEL = "kernel.ipynb"
"""The name under which the cells that ran are read; their neighbours are those of the folder."""

USAGE = """\
%dexnb lint                the Flows of the cells that ran here
%dexnb lint PATH...        files, notebooks, folders
%dexnb graph [FLOW]        the definition graph of a Flow of these cells, with its findings
%dexnb explain RULE        what a rule means, why, and what to do instead
"""


class Magic:
    """Answers `%dexnb`.

    Args:
        cells: Gives the text of each cell that ran, with its number, in the order of running.
    """

    def __init__(self, cells: Callable[[], Iterable[tuple[int, str]]]) -> None:
        """Ask this kernel for its cells."""
        self._cells = cells

    def __call__(self, line: str) -> Any:
        """Look at Flows: lint them, draw them, explain a rule.

        %dexnb lint                the Flows of the cells that ran here
        %dexnb lint PATH...        files, notebooks, folders
        %dexnb graph [FLOW]        the definition graph of a Flow of these cells, with its findings
        %dexnb explain RULE        what a rule means, why, and what to do instead

        Nothing of what is looked at is run. Settings are those of `[tool.dexnb.lint]` in the
        nearest pyproject.toml. A comment silences a rule on its line: # dexnb: ignore[DX104].
        """
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

    def _lint(self, paths: list[str]) -> FindingsShown:
        settings = config_near(Path.cwd()).settings
        if paths:
            missing = next((path for path in paths if not Path(path).exists()), None)
            if missing is not None:
                raise DefinitionError(f"%dexnb lint: there is no file or folder {missing!r}")
            report: LintReport = lint_paths(paths, settings=settings)
            return FindingsShown(report.findings, len(report.files))
        reading = self._reading()
        return FindingsShown(list(map(_here, in_order(lint_reading(reading, settings)))))

    def _graph(self, name: str) -> FlowPicture:
        reading = self._reading()
        flows = {flow.graph.name: flow for flow in reading.flows}
        known = f"the cells that ran here define {', '.join(flows) or 'none'}"
        if not name and len(flows) > 1:
            raise DefinitionError(f"%dexnb graph FLOW: name one; {known}")
        found = flows.get(name) if name else next(iter(flows.values()), None)
        if found is None:
            raise DefinitionError(f"%dexnb graph: there is no Flow {name!r}; {known}")
        settings = config_near(Path.cwd()).settings
        findings = [
            each for each in lint_reading(reading, settings) if each.flow == found.graph.name
        ]
        return FlowPicture(found.graph, list(map(_here, in_order(findings))))

    def _reading(self) -> SourceReading:
        """Read the cells that ran, of equal ones the last."""
        latest = {text: number for number, text in self._cells()}
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


def _here(finding: Finding) -> Finding:
    """Leave the made-up name out of a place in a cell."""
    place = finding.place
    return replace(finding, place=replace(place, path="")) if place.path == KERNEL else finding
