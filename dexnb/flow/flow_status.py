"""`FlowStatus` and `FlowErrorType`: the words with which a run says how it stands."""

from __future__ import annotations

from enum import StrEnum


class FlowStatus(StrEnum):
    """How a run stands; equal to the text that results and states carry."""

    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELED = "CANCELED"
    TERMINATED = "TERMINATED"


class FlowErrorType(StrEnum):
    """Why a run failed; equal to the text that results carry.

    - STEP_DECISION_FAILED: a Step decided so, by `force_fail`.
    - CLIENT_API_FAILED: it was stopped from outside, as FAIL.
    - WORKER_API_FAILED: a Step failed for good: no retry was left, and no other Step takes over.
    - INVALID_USER_FLOW_CODE: Dex's, never given here: such code is refused before it runs.
    - INTERNAL: something stored for it cannot be read.
    - FLOW_TIMEOUT: it ran longer than its timeout; the status is FAILED, or CANCELED by its policy.
    """

    STEP_DECISION_FAILED = "STEP_DECISION_FAILED"
    CLIENT_API_FAILED = "CLIENT_API_FAILED"
    WORKER_API_FAILED = "WORKER_API_FAILED"
    INVALID_USER_FLOW_CODE = "INVALID_USER_FLOW_CODE"
    INTERNAL = "INTERNAL"
    FLOW_TIMEOUT = "FLOW_TIMEOUT"
