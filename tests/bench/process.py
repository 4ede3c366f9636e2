"""Runs a program in a process of its own, and takes its answer."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from tests.bench.case import Figures, Program
from tests.bench.place import DATA, ROOT, prepare, python

TRIES = 3
TIMEOUT_SECONDS = 600
READY_SECONDS = 300


class ProgramFailed(Exception):
    """A program ended with an error or said nothing; the text has its last lines."""


def run(program: Program, shim: Path | None) -> dict[str, Any]:
    """Give its figures, and under `failures` what came of earlier tries.

    Raises:
        ProgramFailed: It failed in every try: a figure of a peer that fails would be no figure.
    """
    failures: list[str] = []
    while len(failures) < TRIES:
        try:
            return {**_once(program, shim), "failures": failures}
        except ProgramFailed as failed:
            failures.append(str(failed))
    message = f"{program.name} failed {TRIES} times, at last with:\n{failures[-1]}"
    raise ProgramFailed(message)


def _once(program: Program, shim: Path | None) -> Figures:
    prepare()
    with tempfile.TemporaryDirectory(dir=DATA, ignore_cleanup_errors=True) as folder:
        store = str(Path(folder) / "store.db")
        environment = _environment(program, shim)
        if program.killed is not None:
            _until_killed(_command(program, {**program.killed, "store": store}), environment)
        try:
            done = subprocess.run(
                _command(program, {**program.asked, "store": store}),
                cwd=ROOT,
                env=environment,
                capture_output=True,
                text=True,
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            message = f"no answer in {TIMEOUT_SECONDS} s"
            raise ProgramFailed(message) from late
    return _answer(done.stdout, done.returncode, done.stderr)


def _command(program: Program, asked: dict[str, Any]) -> list[str]:
    module = f"tests.bench.programs.{program.module}"
    return [str(python(program.place)), "-m", module, json.dumps(asked)]


def _environment(program: Program, shim: Path | None) -> dict[str, str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    if shim is not None:
        environment["LD_PRELOAD"] = str(shim)
        environment["BENCH_FSYNC_US"] = str(round(program.fsync_ms * 1000))
    return environment


def _until_killed(command: list[str], environment: dict[str, str]) -> None:
    """Wait for the line that says that it is ready, and kill it."""
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        try:
            if process.stdout is None or '"ready"' not in process.stdout.readline():
                errors.seek(0)
                raise ProgramFailed(_end(errors.read()))
        finally:
            process.kill()


def _answer(output: str, status: int, errors: str) -> Figures:
    lines = output.strip().splitlines()
    if status != 0 or not lines or not lines[-1].startswith("{"):
        message = f"status {status}: {_end(errors or output)}"
        raise ProgramFailed(message)
    figures: dict[str, Any] = json.loads(lines[-1])
    return figures


def _end(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-8:]) or "no output"
