"""`dexnb graph`: reads what is named and writes each Flow's graph."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from dexnb.cli.exits import FAILED, OK
from dexnb.cli.graph.options import PICTURES, SUFFIXES
from dexnb.cli.graph.outlined import outlined
from dexnb.cli.target import CommandError
from dexnb.cli.text import printable
from dexnb.graph.flow_picture import FlowPicture
from dexnb.graph.still import SourceReader, SourceReading
from dexnb.lint import files_of, lint_reading
from dexnb.lint.config import config_near
from dexnb.lint.in_words import where
from dexnb.model.finding import Finding


def graph(options: argparse.Namespace) -> int:
    """Do what the options say."""
    form = options.format or _form_of(options.output)
    found: list[FlowPicture] = []
    unread = False
    reader = SourceReader()
    for text in options.paths:
        place, flow = _place(text)
        for reading in map(reader.read, files_of(place)):
            unread |= _tell_unread(reading)
            found += _pictures(reading, flow, options)
        if flow and not any(each.graph.name == flow for each in found):
            raise CommandError(f"there is no Flow {flow!r} in {str(place)!r}")
    if not found and not unread:
        raise CommandError(f"there is no Flow in {', '.join(options.paths)}")
    _write(found, form, options)
    valid = all(each.graph.valid for each in found)
    return OK if valid and not unread else FAILED


def _form_of(output: str | None) -> str:
    suffix = Path(output).suffix.lower() if output else ""
    known = next((name for name, own in SUFFIXES.items() if own == suffix), "")
    if suffix and not known:
        endings = ", ".join(dict.fromkeys(SUFFIXES.values()))
        raise CommandError(f"--output {output!r}: end it with {endings}, or give --format")
    return known or "text"


def _place(text: str) -> tuple[Path, str]:
    place, colon, flow = text.rpartition(":")
    if colon and not Path(text).exists() and flow.isidentifier():
        text = place
    else:
        flow = ""
    path = Path(text)
    if not path.exists():
        message = f"there is no file or folder {text!r}: give a .py file, a notebook or a folder"
        raise CommandError(message)
    return path, flow


def _tell_unread(reading: SourceReading) -> bool:
    unread = [problem for problem in reading.problems if problem.kind == "not-parsed"]
    for problem in unread:
        line = f"{where(problem.place)}: {printable(problem.message, 2000)}"
        print(line, file=sys.stderr)
    return bool(unread)


def _pictures(
    reading: SourceReading, flow: str, options: argparse.Namespace
) -> Iterator[FlowPicture]:
    chosen = [each for each in reading.flows if flow in ("", each.graph.name)]
    if not chosen:
        return
    findings: list[Finding] = []
    if not options.no_findings and (options.format or _form_of(options.output)) in PICTURES:
        findings = lint_reading(reading, config_near(Path(reading.path).parent).settings)
    for each in chosen:
        name = each.registered.flow_type
        yield FlowPicture(each.graph, [one for one in findings if one.flow == name])


def _write(found: list[FlowPicture], form: str, options: argparse.Namespace) -> None:
    output = None if options.output is None else Path(options.output)
    if output is not None and (output.is_dir() or options.output.endswith(("/", "\\"))):
        output.mkdir(parents=True, exist_ok=True)
        for name, each in _named(found):
            _keep(output / f"{name}{SUFFIXES[form]}", _made(each, form, options.theme))
        return
    whole = _joined([_made(each, form, options.theme) for each in found], form, options)
    if output is not None:
        _keep(output, whole)
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(whole)
    sys.stdout.buffer.flush()


def _joined(parts: list[bytes], form: str, options: argparse.Namespace) -> bytes:
    if form in ("text", "mermaid", "dot"):
        return b"\n".join(parts)
    if len(parts) == 1:
        return parts[0]
    if form in ("json", "dex"):
        return b"[\n" + b",\n".join(part.rstrip(b"\n") for part in parts) + b"\n]\n"
    message = (
        f"{len(parts)} Flows are no one {form}: choose one as {options.paths[0]}:FLOW, or give "
        "--output a folder, which ends in /"
    )
    raise CommandError(message)


def _named(found: list[FlowPicture]) -> Iterator[tuple[str, FlowPicture]]:
    """Give each Flow a file name of its own."""
    taken: set[str] = set()
    for each in found:
        plain = re.sub(r"[^\w.-]+", "_", each.graph.name)[:100].strip(".") or "flow"
        name, number = plain, 1
        while name.casefold() in taken:
            number += 1
            name = f"{plain}-{number}"
        taken.add(name.casefold())
        yield name, each


def _made(each: FlowPicture, form: str, theme: str) -> bytes:
    return _MAKERS[form](each, theme)


def _keep(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise CommandError(f"{str(path)!r} cannot be written: {error.strerror}") from error


def _json(document: object) -> bytes:
    return f"{json.dumps(document, indent=2, ensure_ascii=False)}\n".encode()


_MAKERS: dict[str, Callable[[FlowPicture, str], bytes]] = {
    "text": lambda each, _: f"{outlined(each.graph)}\n".encode("utf-8", "backslashreplace"),
    "json": lambda each, _: _json(each.graph.to_json()),
    "dex": lambda each, _: _json(each.to_json()),
    "mermaid": lambda each, _: each.to_mermaid().encode(),
    "dot": lambda each, _: each.to_dot().encode(),
    "svg": lambda each, theme: each.to_svg(theme=theme).encode(),  # type: ignore[arg-type]
    "png": lambda each, theme: each.to_png(theme="dark" if theme == "dark" else "light"),
}
