"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from tests.bench.place import HERE, PLACES, ROOT, python


def machine() -> dict[str, Any]:
    """Give processor, system, disk, load and the versions in each environment."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
        "file_system": _file_system(),
        "load": [round(load, 2) for load in os.getloadavg()],
        "commit": _said("git", "-C", str(ROOT), "describe", "--always", "--dirty"),
        "environments": {place: _versions(place) for place in PLACES},
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())


def _file_system() -> str:
    return _said("stat", "--file-system", "--format=%T", str(HERE))


def _versions(place: str) -> dict[str, str]:
    program = (
        "import importlib.metadata as m, platform, sys; "
        "print(platform.python_version(), m.version(sys.argv[1]))"
    )
    said = _said(str(python(place)), "-c", program, place).split()
    return dict(zip(("python", place), said, strict=False))


def _said(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    except OSError:
        return "unknown"
    return done.stdout.strip() or "unknown"
