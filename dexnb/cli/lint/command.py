"""`dexnb lint`: reads what is named, prints what the rules say, and gives the exit code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from dexnb.cli.exits import FAILED, OK
from dexnb.cli.lint.as_github import as_github
from dexnb.cli.lint.as_json import as_json
from dexnb.cli.lint.as_sarif import as_sarif
from dexnb.cli.lint.mending import difference, mend
from dexnb.cli.target import CommandError
from dexnb.lint import LintReport, explain, files_of, lint_paths, lint_text
from dexnb.lint.config import LintConfig, changed, config_near
from dexnb.lint.in_words import in_words
from dexnb.lint.registry import pages
from dexnb.model.finding import SEVERITIES, Finding

STDIN = "-"
_FORMATS: dict[str, Callable[[Sequence[Finding], int], str]] = {
    "text": in_words,
    "json": as_json,
    "sarif": as_sarif,
    "github": as_github,
}


def lint(options: argparse.Namespace) -> int:
    """Do what the options say."""
    if options.rules:
        for rule in pages():
            print(f"{rule.code}  {rule.severity:<8} {rule.name:<24} {rule.summary}")
        return OK
    if options.explain is not None:
        print(explain(options.explain))
        return OK
    paths = options.paths or ["."]
    config = changed(config_near(_first_folder(paths)), _given(options), "option")
    report = _report(paths, config, options)
    if options.diff:
        print(difference(report, config.settings), end="")
    else:
        if options.fix:
            report = _mended(paths, config, report, options)
        _write(_FORMATS[options.format](report.findings, len(report.files)), options.output)
    return FAILED if any(_fails(finding, config) for finding in report.findings) else OK


def _first_folder(paths: list[str]) -> Path:
    first = Path("." if paths[0] == STDIN else paths[0])
    return first if first.is_dir() else first.parent


def _given(options: argparse.Namespace) -> dict[str, Any]:
    """Give the settings that stand on the command line."""
    lists = {
        name: [part for text in given for part in text.split(",") if part]
        for name in ("select", "ignore", "exclude")
        if (given := getattr(options, name)) is not None
    }
    plain = {
        "fail-on": options.fail_on,
        "strict": options.strict,
        "margin": options.margin,
        "minimum-heartbeat": options.minimum_heartbeat,
        "target": options.target,
    }
    return lists | {name: value for name, value in plain.items() if value is not None}


def _report(paths: list[str], config: LintConfig, options: argparse.Namespace) -> LintReport:
    if STDIN in paths:
        if paths != [STDIN] or options.fix or options.diff:
            raise CommandError("- reads standard input: give it alone, without --fix and --diff")
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
        return lint_text(text, path=options.stdin_filename, settings=config.settings)
    missing = next((path for path in paths if not Path(path).exists()), None)
    if missing is not None:
        raise CommandError(f"there is no file or folder {missing!r}: give a .py, .ipynb or folder")
    files = _chosen(paths, config.exclude, named=not options.force_exclude)
    return lint_paths(files, settings=config.settings)


def _chosen(paths: list[str], exclude: Sequence[str], *, named: bool) -> Iterator[Path]:
    """Give the files; `named`: one that was named itself is read whatever is excluded."""
    for path in map(Path, paths):
        for file in files_of(path):
            if (named and file == path) or not any(_fits(file, pattern) for pattern in exclude):
                yield file


def _fits(file: Path, pattern: str) -> bool:
    text = file.as_posix()
    parts = (file.name, *(parent.as_posix() for parent in file.parents))
    return fnmatch(text, pattern) or any(fnmatch(part, pattern) for part in parts)


def _mended(
    paths: list[str], config: LintConfig, report: LintReport, options: argparse.Namespace
) -> LintReport:
    """Make the safe edits; give what is left then."""
    for file, count in mend(report, config.settings):
        print(f"mended {file}: {count}", file=sys.stderr)
    return _report(paths, config, options)


def _fails(finding: Finding, config: LintConfig) -> bool:
    if config.fail_on == "never" or (finding.verdict == "cannot tell" and not config.strict):
        return False
    return SEVERITIES.index(finding.severity) <= SEVERITIES.index(config.fail_on)


def _write(text: str, output: str | None) -> None:
    if output is None:
        if text:
            print(text)
        return
    try:
        Path(output).write_text(f"{text}\n", "utf-8")
    except OSError as error:
        raise CommandError(f"{output!r} cannot be written: {error.strerror}") from error
