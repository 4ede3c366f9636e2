"""What a job does by itself."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from dexnb.errors import DefinitionError, DocumentError
from dexnb.jobs import JobScript, JobState, JobStatus

QUEUED, RUNNING = JobState.QUEUED, JobState.RUNNING


def course(script: JobScript, times: list[float]) -> list[str]:
    """Give the states that a job shows at these seconds after its creation."""
    return [script.status("j", script.position(time)).state.value for time in times]


def test_the_default_job_queues_runs_and_succeeds_at_six_seconds() -> None:
    """Phases begin exactly where the one before ends."""
    script = JobScript()
    assert script.seconds == 6.0
    assert course(script, [0, 1.99, 2, 5.99, 6, 1e6]) == [
        "QUEUED",
        "QUEUED",
        "RUNNING",
        "RUNNING",
        "SUCCEEDED",
        "SUCCEEDED",
    ]


def test_a_result_names_its_job_unless_the_script_has_one() -> None:
    """So that a result that reached the wrong Flow is seen."""
    assert JobScript().status("job-7", 2) == JobStatus(
        "job-7", JobState.SUCCEEDED, result="result of job-7"
    )
    assert JobScript(result="").status("job-7", 2).result == ""


def test_a_failing_script_fails_with_its_error() -> None:
    """The error is in the status and the result is not."""
    script = JobScript.failing("disk full", seconds=3)
    assert script.status("j", script.position(3)) == JobStatus(
        "j", JobState.FAILED, error="disk full"
    )


def test_an_endless_script_runs_for_ever() -> None:
    """Only a hand can end it."""
    assert JobScript.endless().seconds is None
    assert course(JobScript.endless(), [0, 2, 1e9]) == ["QUEUED", "RUNNING", "RUNNING"]


def test_a_flapping_script_falls_back_and_still_ends() -> None:
    """Each state is shown for its period."""
    script = JobScript.flapping(period=1, times=2)
    states = ["QUEUED", "RUNNING"] * 3
    assert course(script, [0, 1, 2, 3, 4, 5, 6]) == [*states, "SUCCEEDED"]


def test_a_phase_without_length_is_never_shown() -> None:
    """A job may even be born at its end."""
    assert course(JobScript(((QUEUED, 0), (RUNNING, 1))), [0]) == ["RUNNING"]
    assert course(JobScript(()), [0]) == ["SUCCEEDED"]


@pytest.mark.parametrize(
    "script",
    [
        JobScript(),
        JobScript.failing("no\x00pe \U0001f4a5"),
        JobScript.endless(),
        JobScript.flapping(0.5, 7),
        JobScript.lasting(600, result="r"),
    ],
)
def test_a_script_survives_json(script: JobScript) -> None:
    """What the HTTP server is sent is what it runs, and equal scripts are one in a set."""
    read = JobScript.from_json(json.loads(json.dumps(script.to_json())))
    assert len({read, script}) == 1


def test_fields_left_out_take_their_defaults() -> None:
    """States may be plain strings."""
    assert JobScript.from_json({}) == JobScript()
    assert JobScript.from_json({"phases": [["RUNNING", 3]]}) == JobScript(((RUNNING, 3.0),))


@pytest.mark.parametrize(
    ("document", "named"),
    [
        ({"phases": [["RUNNING", -1]]}, r"script.phases\[0\] is -1"),
        ({"phases": [["RUNNING", float("nan")]]}, r"script.phases\[0\] is nan"),
        ({"phases": [["RUNNING", float("inf")]]}, r"script.phases\[0\] is inf"),
        ({"phases": [["RUNNING", 10**400]]}, r"script.phases\[0\] is 1000"),
        ({"phases": [["RUNNING", 10**5000]]}, r"script.phases\[0\] is a very large int"),
        ({"phases": [["RUNNING", True]]}, r"script.phases\[0\] is True"),
        ({"phases": [["RUNNING", timedelta.max]]}, r"script.phases\[0\] is datetime"),
        ({"phases": [["RUNNING", 1], ["DONE", 1]]}, r"script.phases\[1\] is 'DONE'"),
        ({"phases": [["SUCCEEDED", 1]]}, "the terminal state is script.end"),
        ({"phases": ["RUNNING"]}, r"script.phases\[0\] is 'RUNNING'"),
        ({"phases": "RUNNING"}, "script.phases is 'RUNNING'"),
        ({"phases": [["RUNNING", 1]] * 1001}, "at most 1000 pairs"),
        ({"phases": [], "end": None}, "a script without an end needs a phase"),
        ({"end": "RUNNING"}, 'script.end is .*"SUCCEEDED", "FAILED" or None'),
        ({"result": 3}, "script.result is 3: give a string"),
        ({"result": "x" * 16_001}, "it has 16001 characters"),
        ({"error": "\ud800"}, "script.error is .*surrogate"),
        ({"phasen": []}, "script field is 'phasen': the fields are end, error, phases, result"),
        ([], "script is \\[\\]: give a JSON object"),
    ],
)
def test_a_script_that_cannot_hold_is_refused_by_field_and_value(document: Any, named: str) -> None:
    """The text names the field, shows the value cut short, and tells the fix."""
    with pytest.raises(DefinitionError, match=named) as refused:
        JobScript.from_json(document)
    assert len(str(refused.value)) < 300


def test_a_status_survives_json_and_ignores_what_it_does_not_know() -> None:
    """A newer server may say more."""
    status = JobStatus("j", JobState.FAILED, error="e")
    assert JobStatus.from_json({**json.loads(json.dumps(status.to_json())), "new": 1}) == status
    assert status.is_terminal
    assert not JobStatus("j", RUNNING).is_terminal


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        "x",
        {},
        {"job_id": "j"},
        {"job_id": 3, "state": "RUNNING"},
        {"job_id": "j", "state": "GONE"},
        {"job_id": "j", "state": []},
        {"job_id": "j", "state": "RUNNING", "result": 3},
    ],
)
def test_what_is_no_status_is_refused(document: Any) -> None:
    """Whatever a foreign server sends gives the same error."""
    with pytest.raises(DocumentError, match="not the status of a job"):
        JobStatus.from_json(document)
