"""The options of `dexnb worker`."""

from __future__ import annotations

import argparse
import math
import os

from dexnb.clock import LONGEST

STORE = "DEXNB_STORE"
"""The environment variable with the store's address: other users cannot read it in a list of
processes, as they can a command line with a password."""

DRAIN_SECONDS = 10.0
MOST_PROCESSES = 256
LOG_LEVELS = ("debug", "info", "warning", "error")

ABOUT = """\
Serve Flows: run the Steps of every open run in the store whose code is given here, until SIGTERM
or Ctrl-C. Any number of workers, on any number of machines, share the work of one store.

On the first signal nothing more is fetched, running attempts have --drain seconds to end, and the
rest is handed back without using an attempt. A second signal ends everything at once; what ran is
then taken over by others, as after a crash.

Exit code: 0 after an orderly stop; 1 when processes died again and again, or did not stop in
order; 2 when the command cannot be done; 128 and the signal's number after a second signal.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options to the command's parser."""
    parser.add_argument(
        "targets",
        nargs="+",
        metavar="TARGET",
        help="MODULE or FILE.py for all Flows defined there, or MODULE:FLOW for one",
    )
    parser.add_argument(
        "--store",
        metavar="URL",
        default=os.environ.get(STORE),
        help="a file, sqlite:///path, postgresql://... or redis://... "
        f"(default: the environment variable {STORE})",
    )
    parser.add_argument(
        "--processes",
        type=_processes,
        default=1,
        metavar="N",
        help="how many processes run Steps, each with an engine of its own (default: 1)",
    )
    parser.add_argument(
        "--drain",
        type=_seconds,
        default=DRAIN_SECONDS,
        metavar="SECONDS",
        help="how long running attempts may go on at a stop (default: %(default)g)",
    )
    _add_logs(parser)
    _add_health(parser)


def _add_logs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--log-format", choices=("text", "json"), default="text", help="lines on standard error"
    )
    parser.add_argument(
        "--log-level",
        choices=LOG_LEVELS,
        default="info",
        help="least level of the worker's own lines; other libraries' begin at warning "
        "(default: %(default)s)",
    )


def _add_health(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--health-port",
        type=_port,
        metavar="PORT",
        help="serve /health/live, /health/ready and /metrics there; 0 takes a free port and logs "
        "it (default: off)",
    )
    parser.add_argument(
        "--health-host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="the address of that port; it has no password (default: %(default)s)",
    )


def _processes(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if not 1 <= number <= MOST_PROCESSES:
        message = f"{text!r}: give 1 to {MOST_PROCESSES}"
        raise argparse.ArgumentTypeError(message)
    return number


def _port(text: str) -> int:
    number = int(text) if text.isdecimal() else -1
    if number not in range(65_536):
        message = f"{text!r}: give 0 (any free port) to 65535"
        raise argparse.ArgumentTypeError(message)
    return number


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds <= LONGEST:
        message = f"{text!r}: give seconds, 0 or more"
        raise argparse.ArgumentTypeError(message)
    return seconds
