"""`Job`: what one process of a worker has to do, as its parent tells it."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from dexnb.model.json_text import from_text, to_text


@dataclass(frozen=True, slots=True)
class Job:
    """The orders of one process.

    Args:
        targets: Where the Flows are, as on the command line.
        store: The address of the store; it may hold a password.
        drain: Seconds that running attempts have at a stop.
        log_format: `text` or `json`.
        log_level: The least level of the worker's own lines.
        process: Which of the processes this is, from 1; 0 for the parent.
    """

    targets: tuple[str, ...]
    store: str
    drain: float
    log_format: str
    log_level: str
    process: int = 0

    def to_line(self) -> str:
        """Give the line by which a process learns it."""
        return to_text(asdict(self)) + "\n"

    @classmethod
    def from_line(cls, line: str) -> Job:
        """Read what `to_line` gave."""
        document = from_text(line)
        return cls(**{**document, "targets": tuple(document["targets"])})
