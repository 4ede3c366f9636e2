"""The options of `dexnb lint`."""

from __future__ import annotations

import argparse
import math

from dexnb.lint.limits import LONGEST

ABOUT = """\
Look for what goes wrong in polling Flows. Files, folders and notebooks are read; nothing of them is
imported or run. Settings are taken from [tool.dexnb.lint] of the nearest pyproject.toml, and
options outweigh them.

A line is left out with a comment behind it: # dexnb: ignore[DX104] or ignore[unbounded-call].

Exit code: 0 when there is nothing at or above --fail-on, 1 when there is, 2 when the command cannot
be done. What cannot be told from the source counts with --strict only.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Give `dexnb lint` its options."""
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="a .py file, a notebook, a folder; - reads Python from standard input (default: .)",
    )
    parser.add_argument(
        "--format",
        choices=("text", "json", "sarif", "github"),
        default="text",
        help="how findings are written (default: %(default)s)",
    )
    parser.add_argument("--output", metavar="FILE", help="write there, not to standard output")
    parser.add_argument(
        "--stdin-filename",
        default="<stdin>",
        metavar="PATH",
        help="the name under which findings of standard input stand",
    )
    _add_choices(parser)
    _add_limits(parser)
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--fix", action="store_true", help="make the edits that are safe")
    shown.add_argument("--diff", action="store_true", help="show those edits and make none")
    shown.add_argument("--rules", action="store_true", help="list every rule")
    shown.add_argument("--explain", metavar="RULE", help="print the page of a rule")


def _add_choices(parser: argparse.ArgumentParser) -> None:
    for name, text in (("select", "ask only these rules"), ("ignore", "leave these rules out")):
        parser.add_argument(
            f"--{name}",
            action="append",
            metavar="RULES",
            help=f"{text}: codes or names, with commas between; may be repeated",
        )
    parser.add_argument(
        "--exclude",
        action="append",
        metavar="PATTERN",
        help="leave out files whose path or name fits, such as 'build/*'; may be repeated",
    )
    parser.add_argument(
        "--force-exclude",
        action="store_true",
        help="leave out files that fit --exclude even where they are named, as hooks name them",
    )
    parser.add_argument(
        "--fail-on",
        choices=("error", "warning", "note", "never"),
        help="least severity that makes the exit code 1 (default: warning)",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        default=None,
        help="let what cannot be told count as found in the exit code",
    )


def _add_limits(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--margin",
        type=_seconds,
        metavar="SECONDS",
        help="what a round leaves free before the heartbeat deadline (default: 10)",
    )
    parser.add_argument(
        "--minimum-heartbeat",
        type=_seconds,
        metavar="SECONDS",
        help="smallest heartbeat_timeout that the runtime takes (default: 10)",
    )
    parser.add_argument(
        "--target",
        choices=("dexnb", "dex"),
        help="where the Flows are to run: dex says what only Dex refuses (default: dexnb)",
    )


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds <= LONGEST:
        message = f"{text!r}: give seconds from 0 to {LONGEST}"
        raise argparse.ArgumentTypeError(message)
    return seconds
