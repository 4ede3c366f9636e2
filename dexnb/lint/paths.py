"""Asks the rules about files, folders and notebooks, without importing any of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from dexnb.graph.still import SourceProblem, SourceReading
from dexnb.graph.still.reading import SourceReader
from dexnb.graph.still.unit import Unit
from dexnb.lint.facts.step import FlowSubject
from dexnb.lint.ignores import read_ignores
from dexnb.lint.notices import NOT_PARSED, UNKNOWN_IGNORE
from dexnb.lint.registry import known_names
from dexnb.lint.rules.hidden_definition import hidden_definition
from dexnb.lint.rules.invalid_definition import invalid_definition
from dexnb.lint.runner import ask, in_order
from dexnb.lint.settings import LintSettings
from dexnb.model.finding import Finding, Place, Verdict

SUFFIXES = (".py", ".ipynb")
_SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages", "build", "dist", "venv"})


@dataclass(frozen=True, slots=True)
class LintReport:
    """What the linter has to say about files.

    Args:
        findings: By place and code, each once.
        files: The files that were read, as they were named.
        flows: The Flows that they define, by type.
        problems: Cells of other languages; what else keeps Flows from being read is a finding.
    """

    findings: tuple[Finding, ...] = ()
    files: tuple[str, ...] = ()
    flows: tuple[str, ...] = ()
    problems: tuple[SourceProblem, ...] = ()


def lint_paths(
    paths: Iterable[str | PathLike[str]], *, settings: LintSettings | None = None
) -> LintReport:
    """Give what the rules say about files, notebooks and all of those in folders.

    A file or cell that cannot be read is a finding, `DX900`; a Step that is too much to be read, or
    that a rule fails on, is `DX902`; the rest goes on.

    Args:
        paths: Files and folders; hidden folders and those of installed packages are left out.
        settings: What the linter is told; defaults without it.
    """
    told = settings or LintSettings()
    reader = SourceReader()
    files = tuple(dict.fromkeys(str(file) for path in paths for file in files_of(Path(path))))
    return _report(((file, reader.read(file)) for file in files), told)


def lint_text(text: str, *, path: str, settings: LintSettings | None = None) -> LintReport:
    """Give what the rules say about a text, as of a file that an editor has not saved.

    Args:
        text: The source; the notebook's JSON where the path is a notebook's.
        path: The file's name, by which findings name it and its neighbours are found.
        settings: What the linter is told; defaults without it.
    """
    reading = SourceReader().read_text(text, path)
    return _report([(path, reading)], settings or LintSettings())


def _report(readings: Iterable[tuple[str, SourceReading]], settings: LintSettings) -> LintReport:
    """Report files, each by its name with what was read of it."""
    files: list[str] = []
    findings: list[Finding] = []
    flows: list[str] = []
    problems: list[SourceProblem] = []
    units: list[Unit] = []
    for file, reading in readings:
        files.append(file)
        units += reading.units
        findings += lint_reading(reading, settings)
        flows += [flow.registered.flow_type for flow in reading.flows]
        problems += [each for each in reading.problems if each.kind == "skipped"]
    return LintReport(tuple(in_order(findings, units)), tuple(files), tuple(flows), tuple(problems))


def lint_reading(reading: SourceReading, settings: LintSettings) -> list[Finding]:
    """Give what the rules say about a text that has been read."""
    found = [_not_parsed(each.message, each.place) for each in reading.problems if _fails(each)]
    for unit in reading.units:
        found += _unknown(unit)
    for flow in reading.flows:
        subject = FlowSubject(flow.registered, settings, flow.graph, flow.problems, flow.place)
        found += ask(subject)
    found += of_no_flow(reading)
    own = {(unit.path, unit.cell): unit.text for unit in reading.units}
    return [each for each in found if settings.asks(each.code, each.name) and _is_said(each, own)]


def files_of(path: Path) -> Iterator[Path]:
    """Give a file itself, or the sources below a folder in the order of their names."""
    if not path.is_dir():
        yield path
        return
    for each in sorted(path.iterdir()):
        if each.name.startswith(".") or each.name in _SKIPPED:
            continue
        if each.is_dir() and not each.is_symlink():
            yield from files_of(each)
        elif each.suffix in SUFFIXES and each.is_file():
            yield each


def of_no_flow(reading: SourceReading) -> Iterator[Finding]:
    """Report the problems that belong to no Flow that was found: they may have hidden one."""
    told = {each for flow in reading.flows for each in flow.problems}
    kinds = {"cannot-tell": hidden_definition, "definition": invalid_definition}
    for problem in reading.problems:
        rule = kinds.get(problem.kind)
        if rule is not None and problem not in told:
            verdict: Verdict = "found" if problem.kind == "definition" else "cannot tell"
            yield Finding(
                rule.code,
                rule.name,
                rule.severity,
                problem.message,
                place=problem.place,
                flow=problem.flow,
                verdict=verdict,
            )


def _fails(problem: SourceProblem) -> bool:
    return problem.kind == "not-parsed"


def _not_parsed(message: str, place: Place) -> Finding:
    hint = "correct it: nothing of it is judged"
    return Finding(NOT_PARSED.code, NOT_PARSED.name, NOT_PARSED.severity, message, hint, place)


def _unknown(unit: Unit) -> Iterator[Finding]:
    """Report what an ignore comment says in vain: what it names is no rule, or it is mistyped."""
    code, name, severity = UNKNOWN_IGNORE.code, UNKNOWN_IGNORE.name, UNKNOWN_IGNORE.severity
    ignores = read_ignores(unit.text)
    for line, column, given in ignores.named:
        if given not in known_names():
            place = Place(unit.path, unit.cell, line, column, line, column)
            message = f"this comment ignores {given!r}, which is no rule"
            yield Finding(code, name, severity, message, "name a rule's code or name", place)
    for line, column, said in ignores.mistyped:
        place = Place(unit.path, unit.cell, line, column, line, column)
        message = f"this comment silences nothing: {said!r} names no rule"
        hint = "write `# dexnb: ignore[DX104]`, or `# dexnb: ignore` alone for all rules"
        yield Finding(code, name, severity, message, hint, place)


def _is_said(finding: Finding, own: dict[tuple[str, str], str]) -> bool:
    place = finding.place
    text = own.get((place.path, place.cell), "")
    return not read_ignores(text).silences(place.line, finding.code, finding.name)
