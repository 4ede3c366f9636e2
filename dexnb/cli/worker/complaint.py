"""How a worker says that it cannot do what was asked."""

from __future__ import annotations

import logging
import sys

from dexnb.cli.worker.discreet import discreet
from dexnb.cli.worker.job import Job
from dexnb.cli.worker.log_lines import tell
from dexnb.errors import DexnbError


def complain(job: Job, error: DexnbError) -> None:
    """Say what is wrong on standard error: in lines for people, or as a log line."""
    lines = [discreet(line) for line in str(error).splitlines()]
    if job.log_format == "json":
        tell(logging.CRITICAL, "cannot_start", message="\n".join(lines))
    else:
        stream = sys.__stderr__ if job.process else sys.stderr
        print("dexnb worker:", "\n".join(lines), file=stream, flush=True)
