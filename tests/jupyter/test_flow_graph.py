"""`dexnb.flow_graph`: the graph and, below it, what the linter says; in a real IPython shell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

import dexnb as dex
from dexnb.examples.polling import PollingFlow
from dexnb.graph import flow_graph as graph_alone
from dexnb.jobs import InProcessJobs
from dexnb.model.finding import Finding
from tests.jupyter import judged
from tests.jupyter.judged import Judged


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Give a shell of its own in an empty folder."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    InteractiveShell.clear_instance()
    made: Any = InteractiveShell.instance(history_length=0)
    made.history_manager.enabled = False
    yield made
    InteractiveShell.clear_instance()


def test_a_flow_of_a_cell_is_drawn_and_judged_with_the_cells_name(shell: Any) -> None:
    """Badges in the picture, a table below it, lines where there is no HTML."""
    shell.run_cell("1 + 1", store_history=True).raise_error()
    text = Path(judged.__file__).read_text("utf-8")
    shell.run_cell(text, store_history=True).raise_error()
    shown = shell.run_cell("dex.flow_graph(Judged())", store_history=True).result
    assert {"DX302", "DX203"} <= {each.code for each in shown.findings}
    assert {each.place.cell for each in shown.findings} == {"In [2]"}
    bundle = shown._repr_mimebundle_()
    assert "DX302 blocking-call" in bundle["image/svg+xml"]
    picture, _, table = bundle["text/html"].partition("</div>")
    assert "<img " in picture
    assert "blocking-call" in table
    line = 1 + next(n for n, each in enumerate(text.splitlines()) if "time.sleep" in each)
    assert f"In [2]:{line}:13" in table
    assert f"In [2]:{line}:13: error DX302" in bundle["text/plain"]
    assert shown._repr_mimebundle_(include=["image/svg+xml"]).keys() == {"image/svg+xml"}


def test_a_flow_without_findings_says_how_many_rules_were_asked() -> None:
    """Silence would look as if nobody had looked."""
    html = dex.flow_graph(PollingFlow(InProcessJobs()))._repr_mimebundle_()["text/html"]
    assert "no findings: " in html
    assert "rules were asked about PollingFlow" in html


def test_findings_that_are_given_are_shown_instead() -> None:
    """And without the linter there is `dexnb.graph.flow_graph`."""
    own = Finding("DX101", "timer-self-loop", "error", "it polls", node="step:Fetch")
    assert dex.flow_graph(Judged(), findings=[own]).findings == (own,)
    assert graph_alone(Judged()).findings == ()
