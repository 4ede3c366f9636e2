"""The guide for authors of providers: what it shows runs, and passes."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "writing_a_provider.md"


@pytest.mark.slow
def test_the_example_of_the_guide_passes_the_suite(tmp_path: Path) -> None:
    """In a file of its own, as a stranger would write it."""
    example, _ = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
    file = tmp_path / "test_my_store.py"
    file.write_text(example)
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "-c", "/dev/null", "--rootdir", tmp_path, file],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.findall(r"(\d+) passed", done.stdout)[0]) > 100


def test_what_the_guide_names_is_there() -> None:
    """Modules and their names, each in backquotes; methods too."""
    text = GUIDE.read_text()
    named = {
        "dexnb.providers": ("clock_for", "anchor_of", "readings_for", "Anchor", "Provider"),
        "dexnb.errors": ("ProviderError", "LeaseLost", "ClockMismatch"),
        "dexnb.model.event": ("Event.to_json", "Event.from_json"),
        "dexnb.testing": ("FaultyProvider",),
    }
    for module, names in named.items():
        for name in names:
            assert re.search(rf"[`.]{re.escape(name)}\b", text), name
            attrgetter(name)(import_module(module))
