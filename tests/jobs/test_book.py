"""The pure core: (job, time, call number) -> answer."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from dexnb.errors import DefinitionError, DocumentError
from dexnb.jobs import (
    Answer,
    Faults,
    JobBook,
    JobConflict,
    JobError,
    JobNotFound,
    JobRateLimited,
    JobScript,
    JobState,
    JobStatus,
    JobUnavailable,
)

QUEUED, RUNNING = JobState.QUEUED, JobState.RUNNING
SUCCEEDED, FAILED = JobState.SUCCEEDED, JobState.FAILED


FOR_EVER = [(0.0, 1e9)]


def state(answer: Answer) -> JobState:
    """Give the state in an answer that must hold one."""
    assert isinstance(answer.outcome, JobStatus), answer
    return answer.outcome.state


def refusal(answer: Answer) -> type[JobError]:
    """Give the kind of error in an answer that must hold one."""
    assert isinstance(answer.outcome, JobError), answer
    return type(answer.outcome)


def test_creating_again_is_the_same_job_with_its_first_start() -> None:
    """Neither time nor the default script begins anew."""
    book = JobBook()
    assert state(book.create("j", 100)) is QUEUED
    assert state(book.create("j", 103)) is RUNNING
    assert state(book.create("j", 106, JobScript())) is SUCCEEDED
    assert len(book) == 1


def test_creating_again_with_another_script_is_refused_and_changes_nothing() -> None:
    """Whoever asks for another job under a taken id is told so."""
    book = JobBook()
    book.create("j", 0)
    assert refusal(book.create("j", 1, JobScript.failing())) is JobConflict
    assert state(book.status("j", 6)) is SUCCEEDED


def test_a_poll_timed_for_the_moment_of_a_change_sees_the_change() -> None:
    """Wherever the clock started: start + 2 - start is often a little less than 2."""
    starts = [0.1 * n + 1.7e9 for n in range(200)] + [0.1 * n for n in range(200)]
    assert any(start + 2 - start < 2 for start in starts)
    for start in starts:
        book = JobBook()
        book.create("j", start)
        assert state(book.status("j", start + 2)) is RUNNING


def test_a_clock_set_back_does_not_make_a_job_younger_than_new() -> None:
    """A restored job may have started in the future."""
    book = JobBook(faults=Faults(outages=[(0, 1)]))
    book.restore({"kind": "created", "job_id": "j", "at": 500.0, "script": {}})
    assert refusal(book.status("j", 100)) is JobUnavailable
    assert book.look("j", 100).state is QUEUED


def test_early_completion_ends_the_job_and_keeps_its_first_result() -> None:
    """A second completion, a late one and the script change nothing."""
    book = JobBook()
    book.create("j", 0)
    assert book.complete("j", 1, "early").result == "early"
    assert book.complete("j", 2, "again").result == "early"
    assert book.look("j", 1e6) == JobStatus("j", SUCCEEDED, result="early")
    book.create("late", 0)
    assert book.complete("late", 7, "mine").result == "result of late"


def test_the_opposite_ending_is_refused() -> None:
    """A job ends once."""
    book = JobBook()
    for job_id in ("a", "b"):
        book.create(job_id, 0)
    assert book.fail("a", 1, "no").error == "no"
    assert book.fail("a", 2, "yes").error == "no"
    with pytest.raises(JobConflict, match="'a' is FAILED already and cannot become SUCCEEDED"):
        book.complete("a", 3)
    with pytest.raises(JobConflict, match="'b' is SUCCEEDED already"):
        book.fail("b", 6, "no")


def test_completing_an_unknown_job_is_refused() -> None:
    """Nothing is created by it."""
    book = JobBook()
    with pytest.raises(JobNotFound, match="'j'"):
        book.complete("j", 0)
    assert refusal(book.status("j", 0)) is JobNotFound
    assert len(book) == 0


def test_a_refused_creation_leaves_no_job_and_its_retry_draws_on() -> None:
    """Each try is a call of its own, before and after the job is there."""
    faults = Faults(seed=3, error_rate=0.6)
    book = JobBook(faults=faults)
    seen = []
    for number in range(12):
        answer = book.create("j", number)
        seen.append(isinstance(answer.outcome, JobUnavailable))
        assert len(book) == (0 if all(seen) else 1)
    assert seen == [faults.fault("j", number).error for number in range(12)]
    assert book.calls("j") == 12
    assert seen[0]


def test_the_faults_of_a_job_do_not_depend_on_other_jobs_or_on_time() -> None:
    """The same calls, interleaved and at other times, get the same fates."""
    faults = Faults(seed=5, error_rate=0.2, hang_rate=0.2, reset_rate=0.2, latency=(0, 1))

    def fates(order: list[str], pace: float) -> dict[str, list[object]]:
        book = JobBook(JobScript.endless(), faults)
        seen: dict[str, list[object]] = {"a": [], "b": []}
        for number, job_id in enumerate(order):
            answer = book.create(job_id, number * pace)
            seen[job_id].append((answer.fate, answer.delay, type(answer.outcome)))
        return seen

    assert fates(["a", "b"] * 30, 0.1) == fates(["b"] * 30 + ["a"] * 30, 17)


def test_hang_and_reset_lose_the_answer_and_not_the_creation() -> None:
    """The job is there, as after a real lost answer."""
    for faults, fate in ((Faults(hang_rate=1), "hung"), (Faults(reset_rate=1), "reset")):
        book = JobBook(faults=faults)
        assert book.create("j", 0).fate == fate
        assert book.look("j", 3).state is RUNNING


def test_a_flapping_answer_shows_the_state_before_the_present_one() -> None:
    """Even after the end, by script or by hand; in the first phase there is none before."""
    book = JobBook(faults=Faults(flap_rate=1))
    for job_id in ("j", "k"):
        book.create(job_id, 0)
    assert [state(book.status("j", t)) for t in (1, 3, 6)] == [QUEUED, QUEUED, RUNNING]
    book.complete("k", 1)
    assert state(book.status("k", 9)) is QUEUED
    assert book.look("k", 9).state is SUCCEEDED


def test_windows_count_from_the_creation_of_each_job() -> None:
    """Two jobs have their outages at different times, and none at their creation."""
    book = JobBook(faults=Faults(outages=[(0, 2)], hang_windows=[(3, 4)]))
    assert state(book.create("a", 10)) is QUEUED
    assert refusal(book.create("a", 11)) is JobUnavailable
    assert refusal(book.status("a", 11)) is JobUnavailable
    assert state(book.status("a", 12)) is RUNNING
    assert state(book.create("b", 12)) is QUEUED
    assert book.status("a", 13).fate == "hung"
    assert book.status("a", 14).fate == "answered"


def test_the_creation_itself_is_outside_all_windows() -> None:
    """Else a window from 0 on would keep a job from ever being there."""
    book = JobBook(faults=Faults(outages=FOR_EVER, hang_windows=FOR_EVER, disappear_after=0))
    assert book.create("j", 0) == Answer(JobStatus("j", QUEUED))
    assert refusal(book.create("j", 0)) is JobUnavailable


def test_a_job_that_disappeared_is_not_found_and_not_created_again() -> None:
    """One id is one job, for good; by hand neither."""
    book = JobBook(faults=Faults(disappear_after=5))
    book.create("j", 0)
    assert state(book.status("j", 4.9)) is RUNNING
    assert refusal(book.status("j", 5)) is JobNotFound
    assert refusal(book.create("j", 6)) is JobNotFound
    with pytest.raises(JobNotFound):
        book.complete("j", 6)


def test_the_rate_limit_holds_for_all_jobs_together_and_does_nothing_more() -> None:
    """A refused creation creates nothing; the pause it names is enough."""
    book = JobBook(faults=Faults(rate_limit=2))
    book.create("a", 0)
    book.create("b", 0.1)
    answer = book.create("c", 0.2)
    assert isinstance(answer.outcome, JobRateLimited)
    assert answer.outcome.retry_after == pytest.approx(0.8)
    assert len(book) == 2
    assert state(book.create("c", 1.0)) is QUEUED


def test_memory_for_refused_creations_is_bounded() -> None:
    """The oldest of ten thousand is forgotten; jobs never are."""
    book = JobBook(faults=Faults(rate_limit=1e-6))
    book.create("kept", 0)
    for number in range(10_001):
        book.create(f"j{number}", 1)
    assert [book.calls(job_id) for job_id in ("j0", "j1", "kept")] == [0, 1, 1]


@pytest.mark.parametrize(
    ("job_id", "named"),
    [("", "at least one"), ("x" * 201, "201 characters"), ("\udc80", "surrogate"), (7, "string")],
)
def test_an_id_that_cannot_be_one_is_refused_by_every_call(job_id: Any, named: str) -> None:
    """Empty, too long, not text; everything else is a name."""
    book = JobBook()
    with pytest.raises(DefinitionError, match=f"job_id is .*{named}"):
        book.create(job_id, 0)
    with pytest.raises(DefinitionError, match="job_id"):
        book.status(job_id, 0)
    with pytest.raises(DefinitionError, match="job_id"):
        book.complete(job_id, 0)
    assert state(book.create("x" * 200, 0)) is QUEUED


def test_records_restore_the_book() -> None:
    """What was kept, line by line as JSON, gives the same jobs at the same times."""
    lines: list[str] = []
    book = JobBook(keep=lambda record: lines.append(json.dumps(record)))
    book.create("a", 10, JobScript.failing("e", 4))
    book.create("b", 11)
    book.create("b", 12)
    book.complete("b", 12, "early")
    book.create("c", 13)
    book.fail("c", 14, "by hand")
    assert len(lines) == 5

    other = JobBook(JobScript.endless())
    for line in lines:
        other.restore(json.loads(line))
    for job_id in ("a", "b", "c"):
        for now in (14, 15, 20):
            assert other.look(job_id, now) == book.look(job_id, now)


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"kind": "created", "job_id": "j", "at": 0},
        {"kind": "created", "job_id": "", "at": 0, "script": {}},
        {"kind": "created", "job_id": "j", "at": "x", "script": {}},
        {"kind": "created", "job_id": "j", "at": float("inf"), "script": {}},
        {"kind": "created", "job_id": "j", "at": 0, "script": {"end": "?"}},
        {"kind": "ended", "job_id": "unknown", "at": 0, "state": "FAILED", "text": "t"},
        {"kind": "ended", "job_id": "known", "at": 0, "state": "RUNNING", "text": "t"},
        {"kind": "else", "job_id": "known", "at": 0, "state": "FAILED", "text": "t"},
        {"kind": "created", "job_id": "known", "at": 0, "script": {}},
    ],
)
def test_a_record_that_does_not_fit_is_refused(record: dict[str, Any]) -> None:
    """A state file that somebody wrote in never turns into odd jobs."""
    book = JobBook()
    book.create("known", 0)
    with pytest.raises(DocumentError, match="not a record of a job"):
        book.restore(record)


def test_what_cannot_be_kept_does_not_happen() -> None:
    """An answer is never ahead of the state file."""

    def full(record: dict[str, Any]) -> None:
        raise JobError("full")

    book = JobBook(keep=full)
    with pytest.raises(JobError, match="full"):
        book.create("j", 0)
    assert len(book) == 0


def test_threads_creating_one_id_get_one_job() -> None:
    """Eight threads, two hundred ids: each is kept once and each call is counted."""
    kept: list[str] = []
    book = JobBook(keep=lambda record: kept.append(record["job_id"]))

    def create_all() -> None:
        for number in range(200):
            book.create(f"j{number}", 0)

    threads = [threading.Thread(target=create_all) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(kept) == len(set(kept)) == 200
    assert {book.calls(f"j{number}") for number in range(200)} == {8}
