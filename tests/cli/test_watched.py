"""A run that is watched by reading its log again and again."""

from __future__ import annotations

from dexnb.cli.watched import Watched
from dexnb.model.run_view import MOST_ENDED, view_of
from tests.model.logs import Log, polling


def ended() -> Log:
    """Give the log of a run that failed once and then completed."""
    return polling().failed(106).begun(107, 2).call(107, 2).completed(108).closed(108)


def test_the_view_is_the_models_fold() -> None:
    """A log in its own order gives the same to the watcher as to every page."""
    run = Watched()
    run.take(ended().events)
    assert run.view == view_of(ended().events)
    assert (run.closed, run.started_at, run.durable_seq) == (True, 100, 4)


def test_any_cut_of_a_log_into_readings_gives_the_same() -> None:
    """It does not matter when the watcher looked, nor that readings repeat each other."""
    log, whole = ended(), Watched()
    whole.take(log.events)
    for cut in range(len(log.events) + 1):
        run = Watched()
        told = [*run.take(log.events[:cut]), *run.take(log.events)]
        assert told == log.events
        assert (run.view, run.endings) == (whole.view, whole.endings)


def test_endings_are_kept_for_the_executions_in_the_view() -> None:
    """And go with them, so that an endless run does not fill the memory."""
    run, log = Watched(), Log()
    for number in range(1, 500):
        log.scheduled(number + 100, f"Again-{number}").completed(number + 100, f"Again-{number}")
    run.take(log.events)
    assert list(run.endings) == list(run.view["steps"])
    assert len(run.endings) == MOST_ENDED
    assert run.endings["Again-499"].payload["decision"]["output"] == "done"
