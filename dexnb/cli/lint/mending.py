"""Applies the safe fixes to files and cells, or shows what they would change."""

from __future__ import annotations

import errno
import io
import json
import os
import tokenize
from collections import Counter
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

from dexnb.cli.target import CommandError
from dexnb.graph.still.notebook import cell_names, read_cells
from dexnb.lint import LintReport, LintSettings, apply_fixes, lint_text
from dexnb.model.finding import Finding


def mend(report: LintReport, settings: LintSettings) -> list[tuple[str, int]]:
    """Apply what is safe; give each file with the number of its findings that were fixed.

    Raises:
        CommandError: A file cannot be written, or is being changed by somebody else.
    """
    files = _Files()
    fixed = apply_fixes(_fixable(report, settings, files), files.read, files.write)
    files.keep()
    return sorted(Counter(finding.place.path for finding in fixed).items())


def difference(report: LintReport, settings: LintSettings) -> str:
    """Give what `mend` would change, as a unified diff; a cell stands as a file of its own."""
    files = _Files()
    parts: list[str] = []

    def compare(path: str, cell: str, text: str) -> None:
        name = f"{path}:{cell}" if cell else path
        before, after = _lines(files.read(path, cell)), _lines(text)
        parts.extend(_ended(unified_diff(before, after, f"a/{name}", f"b/{name}")))

    apply_fixes(_fixable(report, settings, files), files.read, compare)
    return "".join(parts)


def _fixable(report: LintReport, settings: LintSettings, files: _Files) -> list[Finding]:
    """Lint each file that has fixes again, by the very text that is edited.

    It may have changed since it was linted. Edits of files that nobody named are left out.
    """
    found: list[Finding] = []
    for path in report.files:
        if any(_mends(finding, path) for finding in report.findings):
            text = files.source(path).replace("\r\n", "\n").replace("\r", "\n")
            found += lint_text(text, path=path, settings=settings).findings
            found = [each for each in found if _mends(each, each.place.path)]
    return found


def _mends(finding: Finding, path: str) -> bool:
    edits = () if finding.fix is None else finding.fix.edits
    return finding.place.path == path and all(edit.place.path == path for edit in edits)


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _ended(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


class _Files:
    """The texts of files and of notebooks' cells, each file read and written once."""

    def __init__(self) -> None:
        self._encodings: dict[str, str] = {}
        self._sources: dict[str, str] = {}
        self._data: dict[str, bytes] = {}
        self._changed: dict[str, dict[str, str]] = {}

    def read(self, path: str, cell: str) -> str:
        """Give a text as it is, its line ends too."""
        source = self.source(path)
        if not cell:
            return source
        found = next((each for each in read_cells(source) if each.id == cell), None)
        if found is None:
            raise CommandError(f"{path!r} has no cell {cell!r} any more: lint it again")
        return found.text

    def write(self, path: str, cell: str, text: str) -> None:
        """Take a new text."""
        self._changed.setdefault(path, {})[cell] = text

    def keep(self) -> None:
        """Write what has changed: each file whole or not at all."""
        for path, cells in self._changed.items():
            text = cells[""] if "" in cells else _with_cells(self.source(path), cells)
            if Path(path).read_bytes() != self._data[path]:
                raise CommandError(f"{path!r} is changed by somebody else: lint it again")
            _replace(Path(path), text.encode(self._encodings[path]))

    def source(self, path: str) -> str:
        """Give a file's whole text, as it was when this first asked for it."""
        if path not in self._sources:
            data = self._data[path] = Path(path).read_bytes()
            encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
            self._encodings[path] = encoding
            self._sources[path] = data.decode(encoding)
        return self._sources[path]


def _with_cells(source: str, cells: dict[str, str]) -> str:
    """Put cells' texts into a notebook, written as notebook programs write it."""
    document: dict[str, Any] = json.loads(source)
    for name, cell in zip(cell_names(document["cells"]), document["cells"], strict=True):
        text = cells.get(name)
        if text is not None and cell.get("cell_type") == "code":
            cell["source"] = _lines(text) if isinstance(cell["source"], list) else text
    return f"{json.dumps(document, indent=1, ensure_ascii=False)}\n"


def _replace(path: Path, data: bytes) -> None:
    place = path.resolve()
    new = place.with_name(f".{place.name}.{os.getpid()}.new")
    try:
        if not os.access(place, os.W_OK):
            raise PermissionError(errno.EACCES, "it may not be written")
        new.write_bytes(data)
        new.chmod(place.stat().st_mode & 0o777)
        new.replace(place)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise CommandError(f"{str(path)!r} cannot be written: {error.strerror}") from error
