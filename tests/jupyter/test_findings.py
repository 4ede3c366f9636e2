"""What a Lab tells against its Flow: linted beside the kernel, judged by the knobs of now."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dexnb as dex
from dexnb.engine import Session
from dexnb.errors import DefinitionError
from dexnb.examples.polling import PollingFlow
from dexnb.jobs import InProcessJobs, JobScript
from dexnb.jupyter.commands import carry_out
from dexnb.jupyter.findings import page_findings
from dexnb.jupyter.judgement import Judgement
from dexnb.model.finding import Finding, Place
from tests.house.tree import ROOT
from tests.jupyter import judged
from tests.jupyter.judged import Judged

TWINS = json.loads((ROOT / "tests/data/findings.json").read_text("utf-8"))
CODE = Path(judged.__file__).read_text("utf-8").splitlines()


class Anywhere(dex.Step[str]):
    """Leads where its input says."""

    def execute(self, context: dex.Context, input: str) -> dex.StepDecision:
        """Go there."""
        return dex.go_to(globals()[input], input)


class Dynamic(dex.Flow[str]):
    """Hides its shape."""

    def get_steps(self) -> dex.StepList[str]:
        """Give the one Step."""
        return dex.StepList.start_step(Anywhere())


@pytest.fixture
def session() -> Iterator[Session]:
    """A session on a memory of its own."""
    opened = dex.open("memory:")
    yield opened
    opened.close()


@pytest.fixture
def lab(session: Session) -> dex.Lab:
    """The Lab of a Flow that the linter has said its words about."""
    opened = dex.lab(Judged(), "judged-1", "job", runtime=session)
    opened.picture()
    return opened


def found_by(lab: dex.Lab) -> dict[str, dict[str, Any]]:
    """Give the page's findings by their codes, of each the first."""
    found: dict[str, dict[str, Any]] = {}
    for each in lab.page_frame()["findings"]:
        found.setdefault(each["code"], each)
    return found


def line_of(part: str) -> int:
    """Give the number of the line of the Flow that has this."""
    return next(number for number, line in enumerate(CODE, 1) if part in line)


def test_both_languages_read_the_same_documents(session: Session) -> None:
    """Each finding comes back as it was; the others have the fields that are sent."""
    findings = [Finding.from_json(each) for each in TWINS["findings"]]
    assert [each.to_json() | {"fix": None} for each in findings] == [
        each | {"fix": None} for each in TWINS["findings"]
    ]
    assert json.loads(json.dumps(findings[2].to_json())) == TWINS["findings"][2]
    lab = dex.lab(Judged(), "judged-1", "job", runtime=session)
    lab.picture()
    frame = lab.page_frame()
    assert frame["lint"].keys() == TWINS["lint"].keys()
    place = frame["findings"][0]["place"]
    assert carry_out(lab, "source_of", {"place": place}).keys() == TWINS["excerpt"].keys()
    assert carry_out(lab, "explain", {"code": "DX302"}).keys() == TWINS["rule"].keys()


def test_the_linters_words_stand_beside_the_window_rules(lab: dex.Lab) -> None:
    """Of one form, the worst first, each with its node and its line."""
    found = found_by(lab)
    places = {
        "DX201": "asyncio.sleep(POLL",
        "DX302": "time.sleep",
        "DX203": "while True",
    }
    for code, part in places.items():
        assert found[code]["place"]["line"] == line_of(part), code
        assert found[code]["place"]["path"] == "tests/jupyter/judged.py"
        assert found[code]["node"] == "step:Fetch"
    frame = lab.page_frame()
    severities = [each["severity"] for each in frame["findings"]]
    assert severities == sorted(severities, key=("error", "warning", "note").index)
    lint = frame["lint"]
    assert (lint["state"], lint["flow"], lint["steps"]) == ("done", "Judged", 1)
    assert lint["rules"] > 10


def test_the_linter_waits_until_the_page_is_looked_at(session: Session) -> None:
    """A script and the first paint pay nothing; the window rule is told all the same."""
    lab = dex.lab(Judged(), "judged-1", "job", runtime=session)
    lab.look()
    frame = lab.page_frame()
    assert frame["lint"]["state"] == "pending"
    assert [each["code"] for each in frame["findings"]] == ["DX201"]
    assert not [thread for thread in threading.enumerate() if thread.name == "dexnb-lint"]


def test_what_keeps_the_linter_from_its_work_is_told_on_the_page(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And raises nowhere."""
    (tmp_path / "pyproject.toml").write_text("[tool.dexnb.lint]\nmargin = 'x'\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    lab = dex.lab(Judged(), "judged-1", "job", runtime=session)
    lab.picture()
    lint = lab.page_frame()["lint"]
    assert lint["state"] == "failed"
    assert "margin is 'x'" in lint["reason"]


def test_findings_follow_the_code_that_a_cell_brings(lab: dex.Lab, session: Session) -> None:
    """The same Lab with a Flow that has none, and back."""
    mended = PollingFlow(InProcessJobs(JobScript.endless()))
    assert dex.lab(mended, "judged-1", runtime=session) is lab
    assert lab.page_frame()["lint"]["state"] == "pending"
    lab.picture()
    assert lab.page_frame()["findings"] == []
    assert lab.page_frame()["lint"]["steps"] == 3
    dex.lab(Judged(), "judged-1", "job", runtime=session)
    lab.picture()
    assert {"DX201", "DX302"} <= found_by(lab).keys()


def test_a_knob_that_mends_the_window_takes_its_finding_away(lab: dex.Lab) -> None:
    """The hint names the knobs and the values that they need; the linter's words stay."""
    assert found_by(lab)["DX201"]["hint"] == (
        "turn POLL_INTERVAL to at most 50 s, or Fetch.heartbeat_timeout to at least 65 s"
    )
    lab.set_knob("POLL_INTERVAL", 50)
    assert "DX201" not in found_by(lab)
    assert "DX302" in found_by(lab)
    lab.adopt(Judged(), "job", jobs=None, margin=11)
    assert "interval 50 s + call timeout 0 s" in found_by(lab)["DX201"]["message"]


def test_values_of_a_run_outweigh_those_of_the_code(session: Session) -> None:
    """What the linter says of a window goes when the run's values hold, and lends its place."""
    flow = dex.lab(Judged(), "judged-2", "job", runtime=session)
    registered = flow.session.engine.registry.get("Judged")
    assert registered is not None
    judgement = Judgement(registered, margin=10, minimum_heartbeat=1, told=lambda: None)
    place = Place("tests/jupyter/judged.py", "", 7, 2, 7, 9)
    said = Finding("DX201", "window-rule", "error", "said", "", place, "Judged", "step:Fetch")
    unsure = Finding("DX201", "window-rule", "warning", "?", "", place, "Judged", "", "cannot tell")
    judgement.findings = (said, unsure)
    found = page_findings(judgement, flow.graph, {}, margin=10)
    assert [(each.place, each.message[:12]) for each in found] == [
        (place, "Fetch breaks"),
        (place, "?"),
    ]
    assert page_findings(judgement, flow.graph, {"POLL_INTERVAL": 1}, margin=10) == [unsure]


def test_the_source_of_a_finding_is_a_few_lines_without_secrets(lab: dex.Lab) -> None:
    """With the line to mark."""
    asks = line_of("httpx.get(")
    places = (each["place"] for each in lab.page_frame()["findings"])
    place = next(each for each in places if each["line"] == asks)
    excerpt = carry_out(lab, "source_of", {"place": place})
    marked = excerpt["lines"][excerpt["line"] - excerpt["first"]]
    assert marked.strip().startswith("return httpx.get(")
    text = "\n".join(excerpt["lines"])
    assert 'headers = {"<hidden>": "<hidden>"}' in text
    assert "hunter2" not in text
    assert len(excerpt["lines"]) <= 12


@pytest.mark.parametrize(
    "place",
    [
        None,
        {"path": 3, "nonsense": 1},
        {"path": "/etc/passwd", "line": 1},
        {"path": "tests/jupyter/judged.py", "line": 1},
        {"path": "tests/jupyter/judged.py", "line": "1", "end_line": None},
    ],
)
def test_no_other_source_can_be_asked_for(lab: dex.Lab, place: Any) -> None:
    """Only what a finding of the page names."""
    with pytest.raises(DefinitionError, match=r"the (place|source) of"):
        carry_out(lab, "source_of", {"place": place})


def test_a_rule_is_explained_and_an_unknown_one_is_refused(lab: dex.Lab) -> None:
    """By its page, as the rule's own docstring has it."""
    told = carry_out(lab, "explain", {"code": "DX302"})
    assert told["title"] == "DX302 blocking-call"
    assert told["page"].startswith("An async Step makes a call")
    assert "\nInstead:\n" in told["page"]
    with pytest.raises(DefinitionError, match="no rule 'X'"):
        carry_out(lab, "explain", {"code": "X"})


def test_the_picture_has_badges_and_says_what_was_found(lab: dex.Lab) -> None:
    """The same each time."""
    picture = lab.picture()
    assert "blocking-call" in picture
    assert "tests/jupyter/judged.py:" in picture
    assert picture == lab.picture()


def test_what_the_graph_could_not_read_is_a_finding(session: Session) -> None:
    """That nothing is known of is no all-clear."""
    lab = dex.lab(Dynamic(), "dynamic-1", "job", runtime=session)
    (found,) = lab.page_frame()["findings"]
    assert (found["code"], found["verdict"]) == ("DX403", "cannot tell")
    assert found["place"]["line"] > 0
