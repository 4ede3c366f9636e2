"""Exit codes of the command line."""

from __future__ import annotations

OK = 0

FAILED = 1
"""The Flow failed or was stopped, or a check found something wrong."""

USAGE = 2
"""The command cannot be done; what was printed says what to change."""

INTERRUPTED = 130
"""Ctrl-C, as shells count it: 128 and the number of the signal."""

UNREAD = 141
"""Nobody reads the output any more: 128 and the number of SIGPIPE."""
