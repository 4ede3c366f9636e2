"""The metrics of a worker in the Prometheus text format: its processes' reports, added up.

Labels are types, queues, results and methods, never ids, so their number is bounded by the code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from dexnb.cli.worker.totals import Totals
from dexnb.engine.durations import BOUNDS

_COUNTERS = {
    "flows_started": (
        "dexnb_flows_started",
        "Runs whose start Step was begun here for the first time.",
        ("flow_type",),
    ),
    "flows_ended": (
        "dexnb_flows_ended",
        "Runs whose last turn was applied here.",
        ("flow_type", "status"),
    ),
    "attempts": (
        "dexnb_attempts",
        "Attempts of Steps that have ended.",
        ("flow_type", "outcome"),
    ),
    "takeovers": (
        "dexnb_attempt_takeovers",
        "Attempts begun again after the process that ran them was lost.",
        ("flow_type",),
    ),
    "heartbeats": ("dexnb_heartbeats", "Heartbeats of Steps.", ("flow_type",)),
    "poison": (
        "dexnb_poison",
        "Steps and runs ended because something stored cannot be decoded.",
        ("flow_type",),
    ),
    "stalls": ("dexnb_stalls", "Times that a Step blocked its event loop.", ("flow_type",)),
    "fetches": ("dexnb_fetches", "Fetches of the dispatchers.", ("queue", "result")),
    "commits": ("dexnb_commits", "Turns applied here.", ()),
    "store_errors": ("dexnb_store_errors", "Calls that the store has failed.", ("operation",)),
}
_HISTOGRAMS = {
    "commit": ("dexnb_commit_duration_seconds", "Time of the store calls that write a turn."),
    "beat_lag": (
        "dexnb_beat_lag_seconds",
        "Time from the oldest checkpoint of a batch until the store has the batch.",
    ),
}


class WorkerMetrics(Collector):
    """One reading of a worker's metrics.

    Args:
        totals: The sums of all its processes, dead ones too.
        reports: The newest reports of the processes that run.
    """

    def __init__(self, totals: Totals, reports: Sequence[dict[str, Any]]) -> None:
        """Keep them."""
        self._totals = totals
        self._reports = reports

    def collect(self) -> Iterator[Metric]:
        """Give the metrics."""
        for name, (full_name, text, labels) in _COUNTERS.items():
            counter = CounterMetricFamily(full_name, text, labels=labels)
            for values, number in sorted(self._totals.counts.get(name, {}).items()):
                counter.add_metric(values, number)
            if not labels and not counter.samples:
                counter.add_metric((), 0)
            yield counter
        for name, (full_name, text) in _HISTOGRAMS.items():
            counts, seconds = self._totals.durations.get(name, ([0] * (len(BOUNDS) + 1), 0.0))
            histogram = HistogramMetricFamily(full_name, text)
            histogram.add_metric((), list(_cumulated(counts)), seconds)
            yield histogram
        yield from self._gauges()

    def _gauges(self) -> Iterator[Metric]:
        reports = self._reports
        yield _gauge("dexnb_processes", "Processes of this worker that run.", len(reports))
        yield _gauge(
            "dexnb_running_attempts",
            "Attempts of Steps under way.",
            sum(report["running_attempts"] for report in reports),
        )
        yield _gauge(
            "dexnb_loop_lag_seconds",
            "How late the control loop was at most within the last second.",
            max((report["loop_lag"] for report in reports), default=0.0),
        )
        yield _gauge(
            "dexnb_stalled_loops",
            "Event loops that a Step holds.",
            sum(report["stalled_loops"] for report in reports),
        )
        yield from _depths(reports)


def exposition(totals: Totals, reports: Sequence[dict[str, Any]], accept: str) -> tuple[bytes, str]:
    """Give the metrics as the scraper accepts them, and their content type."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(WorkerMetrics(totals, reports))
    encode, content_type = choose_encoder(accept)
    return encode(registry), content_type


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(name, text, value=value)


def _depths(reports: Iterable[dict[str, Any]]) -> Iterator[Metric]:
    depths = next((report["depths"] for report in reports if report["depths"]), None)
    if depths is None:
        return
    # Of the store, so the same whichever worker tells: never add them up over machines.
    gauge = GaugeMetricFamily("dexnb_queue_depth", "What waits in the store.", labels=("queue",))
    gauge.add_metric(("orchestration",), depths["messages"])
    gauge.add_metric(("work",), depths["work_items"])
    yield gauge
    yield _gauge("dexnb_leased_work_items", "Work items under a live lock.", depths["leased"])


def _cumulated(counts: Sequence[int]) -> Iterator[tuple[str, float]]:
    sum_ = 0
    for bound, count in zip((*map(str, BOUNDS), "+Inf"), counts, strict=True):
        sum_ += count
        yield bound, float(sum_)
