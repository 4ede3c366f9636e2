"""Which properties of a full long-polling provider have no test here, and why."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

NO_COUNTERPART: Mapping[str, str] = MappingProxyType(
    {
        "runs made by a start message, or by the metadata of an ack": (
            "`start_run` makes the run with its first turn, because an open flow id has to attach "
            "atomically; a child's start that waits in a queue does not exist either"
        ),
        "runs without a version, versions set later": (
            "nobody replays user code, so a run carries no version of its handler"
        ),
        "pinned versions and version ranges in a fetch": (
            "as above; what an engine can run is said by `Handlers`, tested in queue_semantics"
        ),
        "several executions of one instance, continue-as-new": (
            "a history does not grow with poll rounds, so there is no reason to cut it; a new run "
            "under the same flow id is tested in starts"
        ),
        "the run's status at the fetch of a work item": (
            "a closing turn deletes the run's work items, so a fetched one is of an open run; "
            "tested in cancellation"
        ),
        "an undecodable history at the fetch of a run": (
            "a fetch gives the state's text and no history; what an unreadable event does is "
            "tested in corrupted, what an unreadable state does is the engine's"
        ),
        "sessions that bind work items to a worker": "no Step is bound to one engine",
        "tags that choose workers": "the handler's name is the only thing that chooses an engine",
        "key-value pairs of a run, custom status": "both are part of the run's opaque state",
        "deleting and pruning runs": "the contract has no call that deletes a run",
        "trees of runs, parent ids": "runs do not know each other in the store",
        "system metrics": "`queue_depths` and `list_runs` give what a view needs; tested in reads",
    }
)
"""The property in our words, and the reason."""
