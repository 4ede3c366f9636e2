"""What the tests that start `dexnb` as a process share."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]

PATIENCE = 45.0
"""Seconds after which a process is given up; generous, because machines are busy."""

Begin = Callable[..., subprocess.Popen[str]]
Command = Callable[..., subprocess.CompletedProcess[str]]
