"""The commands and their options; each loads its own part when it is called."""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Sequence
from typing import TextIO

from dexnb._version import __version__
from dexnb.cli.exits import INTERRUPTED, UNREAD, USAGE
from dexnb.cli.graph.options import ABOUT as GRAPH
from dexnb.cli.graph.options import add_options as add_graph_options
from dexnb.cli.lint.options import ABOUT as LINT
from dexnb.cli.lint.options import add_options as add_lint_options
from dexnb.cli.worker.options import ABOUT as WORKER
from dexnb.cli.worker.options import add_options as add_worker_options
from dexnb.clock import LONGEST, Clock
from dexnb.errors import DefinitionError, DexnbError

_RUN = """\
Start a Flow, or go on with the open run of its flow id, and watch it until it ends.

Exit code: 0 when the Flow completed, 1 when it failed or was stopped, 2 when the command cannot
be done, 130 after Ctrl-C, which leaves the Flow open.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code; a user's mistake is one message on stderr, and 2."""
    _print_anything(sys.stdout, sys.stderr)
    options = make_parser().parse_args(arguments)
    try:
        return _do(options)
    except DexnbError as error:
        from dexnb.cli.text import printable

        lines = (printable(line, 2000) for line in str(error).splitlines())
        print(f"dexnb {options.command}:", "\n".join(lines), file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Python flushes standard output once more at its exit, and must not complain there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNREAD


def _do(options: argparse.Namespace) -> int:
    if options.command == "doctor":
        from dexnb.cli.doctor import doctor

        return doctor(options.folder)
    if options.command == "graph":
        from dexnb.cli.graph.command import graph

        return graph(options)
    if options.command == "lint":
        from dexnb.cli.lint.command import lint

        return lint(options)
    if options.command == "worker":
        from dexnb.cli.worker.parent import worker

        return worker(options)
    if options.kill_after is not None:
        from dexnb.cli.kill import run_and_kill

        return run_and_kill(options)
    from dexnb.cli.run import run

    return run(options)


def make_parser() -> argparse.ArgumentParser:
    """Give the commands and their options."""
    parser = argparse.ArgumentParser(
        prog="dexnb", description="A laboratory for durable polling flows."
    )
    parser.add_argument("--version", action="version", version=f"dexnb {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, told, about, add in (
        ("graph", "draw the definition graphs of Flows", GRAPH, add_graph_options),
        ("lint", "look for what goes wrong in polling Flows", LINT, add_lint_options),
        ("run", "run a Flow and watch it", _RUN, _add_run),
        ("worker", "serve Flows from a store, with several processes", WORKER, add_worker_options),
    ):
        shape = argparse.RawDescriptionHelpFormatter
        add(commands.add_parser(name, help=told, description=about, formatter_class=shape))
    doctor = commands.add_parser(
        "doctor",
        help="check this machine: versions, clock, files",
        description="Check what dexnb needs of this machine. Exit code 1 when something is wrong.",
    )
    doctor.add_argument(
        "--folder", default=".dexnb", help="where databases are kept (default: %(default)s)"
    )
    return parser


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "target",
        metavar="MODULE_OR_FILE:FLOW",
        help="the Flow, for example dexnb.examples.polling:PollingFlow or my_flow.py:MyFlow; "
        ":FLOW may be left out where there is only one",
    )
    parser.add_argument(
        "--flow-id",
        metavar="ID",
        help="name of what is waited for; by default the newest open run of the Flow, "
        "else a fresh name",
    )
    parser.add_argument("--input", metavar="JSON", help="input of the start Step (default: none)")
    parser.add_argument(
        "--db",
        metavar="PATH",
        help="database file, or memory: to keep nothing (default: .dexnb/NAME.db)",
    )
    parser.add_argument(
        "--kill-after",
        type=_seconds,
        metavar="SECONDS",
        help="kill the process hard this long after the Flow's start, and start it again on the "
        "same file",
    )
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--plain", action="store_true", help="lines instead of the live view")
    shape.add_argument(
        "--json", action="store_true", help="the event log as JSON Lines on standard output"
    )
    _add_surroundings(parser)


def _add_surroundings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--clock",
        type=_clock,
        default=Clock.real(),
        metavar="real|x10|x60|virtual",
        help="how time passes: as on the host, ten or sixty times as fast, or in jumps",
    )
    parser.add_argument(
        "--serve-jobs",
        action="store_true",
        help="start a job server on the loopback interface; its URL is in DEXNB_JOBS_URL",
    )
    parser.add_argument(
        "--jobs-state",
        metavar="FILE",
        help="file that keeps the server's jobs (default: beside the database)",
    )


def _clock(text: str) -> Clock:
    if text in ("real", "virtual"):
        return Clock.real() if text == "real" else Clock.virtual()
    try:
        if text.startswith("x"):
            return Clock.scaled(float(text[1:]))
    except (ValueError, DefinitionError):
        pass
    message = f"{text!r}: give real, virtual, or x and a number above 0 such as x10"
    raise argparse.ArgumentTypeError(message)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= LONGEST:
        message = f"{text!r}: give seconds above 0"
        raise argparse.ArgumentTypeError(message)
    return seconds


def _print_anything(*streams: TextIO) -> None:
    """Let names and messages be printed whatever the terminal's encoding lacks."""
    for stream in streams:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
