"""Metrics of several processes, added up and written for Prometheus."""

from __future__ import annotations

import re

from prometheus_client.parser import text_string_to_metric_families

from dexnb.cli.worker.metrics import exposition
from dexnb.cli.worker.totals import Totals
from tests.cli.worker.reports import report


def text_of(*reports: dict[str, object], accept: str = "") -> str:
    """Give the metrics of these processes."""
    totals = Totals()
    for each in reports:
        totals.add(each)
    return exposition(totals, list(reports), accept)[0].decode()


def test_processes_are_summed_up() -> None:
    """Counts and attempts are added, the lag is the worst, the store's queues count once."""
    text = text_of(report(1), report(2))
    for line in (
        'dexnb_attempts_total{flow_type="F",outcome="completed"} 6.0',
        'dexnb_attempts_total{flow_type="F",outcome="failed"} 2.0',
        "dexnb_commits_total 10.0",
        "dexnb_processes 2.0",
        "dexnb_running_attempts 4.0",
        "dexnb_loop_lag_seconds 0.02",
        'dexnb_queue_depth{queue="work"} 4.0',
        "dexnb_leased_work_items 2.0",
    ):
        assert f"\n{line}\n" in text


def test_a_histogram_is_cumulated() -> None:
    """Each bound counts what is below it; what is over all of them stands in +Inf."""
    text = text_of(report(1))
    found = re.findall(
        r'^dexnb_commit_duration_seconds_bucket{le="(.*)"} (.*)$', text, re.MULTILINE
    )
    assert dict(found)["0.001"] == "1.0"
    assert dict(found)["0.005"] == dict(found)["10.0"] == "2.0"
    assert dict(found)["+Inf"] == "3.0"
    assert "dexnb_commit_duration_seconds_count 3.0" in text


def test_what_a_dead_process_has_counted_stays() -> None:
    """A sum that falls would look like a restart of the whole worker."""
    past, now = Totals(), Totals()
    past.add(report(1))
    now.include(past)
    now.add(report(1))
    assert now.counts["commits"] == {(): 10}
    assert now.durations["commit"][0] == [2 * n for n in past.durations["commit"][0]]
    assert past.counts["commits"] == {(): 5}


def test_names_follow_the_conventions() -> None:
    """One prefix, unit suffixes, help for each; readable by the library's own parser."""
    families = list(text_string_to_metric_families(text_of(report(1))))
    assert len(families) > 12
    for family in families:
        assert family.name.startswith("dexnb_")
        assert family.documentation
        if family.type == "histogram":
            assert family.name.endswith("_seconds")
    assert all(family.type != "unknown" for family in families)


def test_a_scraper_may_ask_for_openmetrics() -> None:
    """By its Accept header."""
    _, kind = exposition(Totals(), [], "application/openmetrics-text; version=1.0.0")
    assert kind.startswith("application/openmetrics-text")
    _, kind = exposition(Totals(), [], "*/*")
    assert kind.startswith("text/plain")
