"""Which files lie near a text, where its imports may be looked up; `sys.path` is not asked."""

from __future__ import annotations

from pathlib import Path

_MARKS = ("pyproject.toml", "setup.py", "setup.cfg", ".git", ".hg")
_HIGHEST = 12
MOST_FILES = 300
"""Files that are read beside one text; imports behind those are opaque."""


class Neighbours:
    """Finds modules near a file: in its package, its folder, and those above in its project."""

    def __init__(self) -> None:
        """Know no folder yet."""
        self._roots: dict[Path, tuple[Path, ...]] = {}
        self._found: dict[tuple[str, Path], Path | None] = {}

    def find(self, name: str, near: Path) -> Path | None:
        """Give the file of a module by its absolute name, or None.

        Args:
            name: The name; for a relative import, one that `named` has given.
            near: The file that imports it, or the folder that a text belongs to.
        """
        folder = near if near.is_dir() else near.parent
        key = (name, folder)
        if key not in self._found:
            self._found[key] = self._look(name, folder)
        return self._found[key]

    def _look(self, name: str, folder: Path) -> Path | None:
        parts = name.split(".")
        if not all(part.isidentifier() for part in parts):
            return None
        for root in self.roots(folder):
            base = root.joinpath(*parts)
            for file in (base.with_name(f"{base.name}.py"), base / "__init__.py"):
                if file.is_file():
                    return file
            if base.is_dir():
                # A folder without an __init__ is a package too.
                return base
        return None

    def roots(self, folder: Path) -> tuple[Path, ...]:
        """Give the folders in which the name of a module may begin, nearest first."""
        if folder not in self._roots:
            self._roots[folder] = tuple(_roots(folder))
        return self._roots[folder]


def near_path(file: Path) -> str:
    """Name a file beside a text: relative to the working folder when under it."""
    try:
        return file.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return str(file)


def named(file: Path) -> tuple[str, str]:
    """Give a file's name as a module, and that of its package."""
    parts: list[str] = [] if file.stem == "__init__" else [file.stem]
    package: list[str] = []
    folder = file.parent
    while (folder / "__init__.py").is_file() and len(package) < _HIGHEST:
        package.insert(0, folder.name)
        folder = folder.parent
    return ".".join([*package, *parts]), ".".join(package)


def _roots(folder: Path) -> list[Path]:
    """Give the folder and those above it up to the project's; a package's own are no roots."""
    found = [folder]
    while not any((found[-1] / mark).exists() for mark in _MARKS):
        above = found[-1].parent
        if above == found[-1] or len(found) == _HIGHEST:
            # There is no project: what lies above the package is nobody's business.
            found = [folder, *_above_packages(folder)]
            break
        found.append(above)
    return [each for each in found if not (each / "__init__.py").is_file()]


def _above_packages(folder: Path) -> list[Path]:
    found: list[Path] = []
    while (folder / "__init__.py").is_file() and len(found) < _HIGHEST:
        folder = folder.parent
        found.append(folder)
    return found
