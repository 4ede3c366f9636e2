"""Where the runtime does something else than a rule says, or nothing: each with its reason.

A deviation whose behaviour can be seen has a test of what is done instead; those in `NO_TEST` speak
of things that this runtime does not have.
"""

from __future__ import annotations

_ONE_PROCESS = "Steps run in the process of the engine: there is no server and no Worker beside it"
_NO_LOCAL_PHASE = (
    "ASYNC means that an acknowledgement commits without waiting for the disk; there is no local "
    "phase, so every attempt has heartbeats, checkpoints and timeouts"
)
_FRACTIONS = "durations under a second are legal, for short demos in a notebook"

DEVIATIONS: dict[str, str] = {
    "2.1/method-timeout-whole": _FRACTIONS,
    "2.1/retry-whole": _FRACTIONS,
    "2.8/timer-whole": _FRACTIONS,
    "2.1/async-local-phase": _NO_LOCAL_PHASE,
    "2.3/async-heartbeats": _NO_LOCAL_PHASE,
    "2.3/async-timeouts": _NO_LOCAL_PHASE,
    "2.5/shared-budget": _NO_LOCAL_PHASE,
    "2.1/long-poll": f"{_ONE_PROCESS}; a wait lasts as long as its caller asks",
    "2.1/inline-values": "values stand in the store itself; one above 1 MiB is refused by name",
    "2.1/stream-refuse": (
        "trimming comes with the write, so only a message that is over the capacity by itself is "
        "refused"
    ),
    "2.13/client-refused": "a ValueMappingError tells what the Stream can hold",
    "2.1/continue-as-new": "left out: a history does not grow with poll rounds",
    "2.2/snapshot-time": (
        "the snapshot is taken when the method is scheduled, so that it travels with the work item "
        "and is the same on every engine"
    ),
    "2.3/throttled": "every change of a checkpoint goes to the store with the next batch",
    "2.3/stale-on-timeout": (
        "the newest checkpoint is in the acknowledgement of a failed attempt, however it failed"
    ),
    "2.3/lost-worker": (
        f"{_ONE_PROCESS}; a lost engine's attempts are taken over when their leases end, and at "
        "once where a file tells that its process is dead"
    ),
    "2.4/timeout-texts": "the error types are the same, each with one stable sentence of our own",
    "2.4/budget-text": "the last error of the Step is kept readable beside it, as last_error",
    "2.4/invalid-result": (
        "an exception keeps its own name; only a result that cannot hold is an "
        "InvalidStepResultError, which is not retried"
    ),
    "2.4/dispatch": (
        "a store's error is retried without using an attempt; an attempt that was lost with its "
        "engine counts, as WorkerLost"
    ),
    "2.6/recovery-circle": "refused by name when the Flow is registered",
    "2.6/recovery-sync": (
        "the default is SYNC already, and where somebody chooses ASYNC for a run it holds for all "
        "Steps that say nothing"
    ),
    "2.7/no-event": (
        "step_cancelled is written, so that the history adds up to the state and the timeline "
        "shows what was cancelled"
    ),
    "2.7/when": (
        "in one process the engine cancels the running handler at once; another engine's handler "
        "learns of it when its lease is renewed"
    ),
    "2.7/stop-cancel": (
        "the run is closed at once and its Steps get CancelledError, in which they may still clean "
        "up; CANCEL and TERMINATE differ in the status only"
    ),
    "2.9/no-lock-in-poll": "advice for the author: the runtime lets a Step keep its lock",
    "2.12/transport": f"{_ONE_PROCESS}; RPC handlers run in the process that calls them",
    "2.13/backends": "Streams stand in the store of the runs, memory or SQLite",
}

NO_TEST: frozenset[str] = frozenset({"2.12/transport", "2.13/backends"})
"""Deviations that only say that something does not exist here."""
