"""Where programs run: an environment for each peer, a folder on the disk that is measured."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HERE = ROOT / ".bench"
PLACES = ("dexnb", "dbos", "duroxide")
THIS = "this"
"""The environment that the caller runs in: for checks that need no peer."""
DATA = HERE / "data"
SHIM_SOURCE = Path(__file__).parent / "programs" / "fsync.c"


def python(place: str) -> Path:
    """Give the interpreter of an environment."""
    return Path(sys.executable) if place == THIS else HERE / place / "bin" / "python"


def make(place: str, interpreter: str) -> None:
    """Make an environment anew and install what its file of requirements names."""
    prepare()
    subprocess.run([interpreter, "-m", "venv", "--clear", HERE / place], check=True)
    requirements = Path(__file__).parent / "requirements" / f"{place}.txt"
    install = ("-m", "pip", "install", "-qq", "--disable-pip-version-check", "--requirement")
    subprocess.run([python(place), *install, requirements], check=True, cwd=ROOT)


def prepare() -> None:
    """Make the folder, which git ignores by a file of its own."""
    DATA.mkdir(parents=True, exist_ok=True)
    (HERE / ".gitignore").write_text("*\n")


def shim() -> Path | None:
    """Compile what counts fsyncs and makes them longer; None where that cannot be."""
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None or not sys.platform.startswith("linux"):
        return None
    prepare()
    built = HERE / "fsync.so"
    command = [compiler, "-shared", "-fPIC", "-O2", "-o", str(built), str(SHIM_SOURCE), "-ldl"]
    done = subprocess.run(command, capture_output=True, check=False)
    return built if done.returncode == 0 else None


def main() -> None:
    """Make the environments that are missing, or those that are named."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.place", description=main.__doc__)
    parser.add_argument("places", nargs="*", metavar="PLACE", help=f"one of {', '.join(PLACES)}")
    parser.add_argument("--python", default=sys.executable, help="interpreter to start from")
    asked = parser.parse_args()
    for place in asked.places or [name for name in PLACES if not python(name).exists()]:
        make(place, asked.python)


if __name__ == "__main__":
    main()
