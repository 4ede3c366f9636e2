"""Parts load alone: a fresh interpreter loads no more than the part at hand needs."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.house.tree import PACKAGE, ROOT

NOTEBOOK = frozenset({"IPython", "anywidget", "ipykernel", "ipywidgets", "traitlets"})
BACKENDS = frozenset({"aiosqlite", "psycopg", "redis", "sqlite3", "temporalio"})
HEAVY = frozenset(
    {"httpx", "networkx", "plotly", "prometheus_client", "rich", "starlette", "uvicorn"}
)
PROVIDERS = frozenset(f"dexnb.providers.{name}" for name in ("sqlite", "redis", "postgres"))

UNWANTED = {
    "dexnb": NOTEBOOK | BACKENDS | HEAVY,
    "dexnb.clock": NOTEBOOK | BACKENDS | HEAVY,
    "dexnb.model": NOTEBOOK | BACKENDS | HEAVY,
    "dexnb.flow": NOTEBOOK | BACKENDS | HEAVY,
    "dexnb.providers": NOTEBOOK | HEAVY | PROVIDERS,
    "dexnb.jobs": NOTEBOOK | BACKENDS | HEAVY,
    "dexnb.graph": NOTEBOOK | BACKENDS,
    "dexnb.engine": NOTEBOOK | BACKENDS | HEAVY | PROVIDERS,
    "dexnb.lint": NOTEBOOK | BACKENDS | {"dexnb.engine"},
    "dexnb.widgets": BACKENDS | {"dexnb.engine", "dexnb.providers"},
    "dexnb.examples.polling": NOTEBOOK | BACKENDS | {"plotly", "rich"},
    "dexnb.cli": NOTEBOOK | BACKENDS | HEAVY,
}


def is_there(module: str) -> bool:
    """Tell whether the part has been built."""
    path = PACKAGE.joinpath(*module.split(".")[1:])
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def loaded_by(statement: str) -> frozenset[str]:
    """Give the modules that a fresh interpreter has loaded after one statement."""
    code = f"{statement}\nimport sys\nprint(*sys.modules, sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return frozenset(done.stdout.split())


@pytest.mark.parametrize("module", [name for name in UNWANTED if is_there(name)])
def test_a_part_loads_alone(module: str) -> None:
    """Importing a part loads none of what it has no need of."""
    loaded = loaded_by(f"import {module}")
    assert module in loaded
    assert sorted(UNWANTED[module] & loaded) == []


def test_a_loaded_module_is_seen() -> None:
    """The measure sees a module that is loaded only by another one."""
    assert {"aiosqlite", "sqlite3"} <= loaded_by("import aiosqlite")


def test_the_package_marks_itself_as_typed() -> None:
    """A user's type checker reads the annotations only beside this file."""
    assert (PACKAGE / "py.typed").is_file()
