"""What `dexnb.flow_graph` gives: a picture in a notebook, and files by their suffix."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import dexnb as dex
from dexnb.errors import DefinitionError
from dexnb.examples.polling import PollingFlow
from dexnb.graph import picture, read_graph
from dexnb.graph.exports import from_dex_json
from dexnb.jobs import InProcessJobs
from dexnb.model.finding import Finding
from tests.graph import made


def test_flow_graph_reads_a_flow_and_gives_every_form() -> None:
    """From the package's own name; the document is beside it."""
    flow = PollingFlow(InProcessJobs())
    shown = dex.flow_graph(flow)
    assert shown.graph == read_graph(flow)
    assert shown.to_svg() == shown._repr_svg_()
    assert shown.to_mermaid().startswith("flowchart LR\n")
    assert shown.to_dot().startswith('digraph "PollingFlow" {\n')
    assert shown.to_networkx().has_edge("step:StartJob", "step:AwaitJob")
    assert from_dex_json(shown.to_json()) == shown.graph


def test_a_notebook_gets_a_picture_and_a_line_of_text() -> None:
    """The same each time, and only what it asks for."""
    shown = picture(made.shop())
    text = "FlowPicture(OrderFlow: 5 Steps, 17 edges, 1 remark)"
    assert repr(shown) == text
    bundle = shown._repr_mimebundle_()
    assert bundle["text/plain"] == text
    assert bundle["image/svg+xml"] == shown.to_svg()
    assert shown._repr_mimebundle_() == bundle
    assert shown._repr_mimebundle_(include=["text/plain"]) == {"text/plain": text}
    assert shown._repr_mimebundle_(exclude=["image/svg+xml", "text/html"]) == {"text/plain": text}


def test_a_wide_picture_scrolls_in_a_notebook_instead_of_becoming_too_small() -> None:
    """As an image that needs no trust, whose name is the picture's, escaped."""
    html = picture(made.named(made.HOSTILE[0]))._repr_mimebundle_()["text/html"]
    assert re.fullmatch(
        r'<div style="overflow-x:auto">'
        r'<img alt="Definition graph of &quot;&gt;&lt;script&gt;[^"<>]*" '
        r'style="width:100%;min-width:\d+px;max-width:\d+px;height:auto" '
        r'src="data:image/svg\+xml;base64,[\w+/=]+"></div>',
        html,
    )
    least, most = (int(each) for each in re.findall(r"(?:min|max)-width:(\d+)px", html))
    assert least == pytest.approx(0.6 * most, abs=1)


def test_findings_are_badges_in_the_picture() -> None:
    """And counted in its line of text."""
    found = Finding("DX101", "timer-self-loop", "error", "loops", node=made.AWAIT)
    shown = picture(made.shop(), findings=[found])
    assert "DX101 timer-self-loop: loops" in shown.to_svg()
    assert repr(shown).endswith("1 remark, 1 finding)")


def test_a_file_has_the_form_that_its_suffix_asks_for(tmp_path: Path) -> None:
    """Each of the five."""
    shown = picture(made.named("\ud800 \u5f85\u6a5f"))
    begins = {
        "svg": b"<svg ",
        "PNG": b"\x89PNG",
        "mmd": b"flowchart LR",
        "dot": b"digraph ",
        "json": b"{",
    }
    for suffix, begin in begins.items():
        path = shown.save(tmp_path / f"flow.{suffix}")
        assert path.read_bytes().startswith(begin)
    assert from_dex_json(json.loads((tmp_path / "flow.json").read_text())) == shown.graph


@pytest.mark.parametrize("name", ["flow.gif", "flow", "flow.svg.gz"])
def test_a_file_of_another_form_is_refused_and_not_made(tmp_path: Path, name: str) -> None:
    """With the suffixes that there are."""
    with pytest.raises(DefinitionError, match=r"one of \.svg, \.png, \.mmd, \.dot, \.json"):
        picture(made.shop()).save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
