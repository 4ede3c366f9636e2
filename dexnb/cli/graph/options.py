"""The options of `dexnb graph`."""

from __future__ import annotations

import argparse

ABOUT = """\
Draw the definition graphs of Flows. Files, folders and notebooks are read; nothing of them is
imported or run.

Exit code: 0 when every graph is valid, 1 when one needs attention or a file cannot be read, 2 when
the command cannot be done.
"""

SUFFIXES = {
    "text": ".txt",
    "json": ".json",
    "dex": ".json",
    "mermaid": ".mmd",
    "dot": ".dot",
    "svg": ".svg",
    "png": ".png",
}
"""The suffix of a file for each format."""

PICTURES = frozenset({"svg", "png"})
"""Formats that show the linter's findings."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Give `dexnb graph` its options."""
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PATH[:FLOW]",
        help="a .py file, a notebook or a folder; :FLOW draws that Flow only",
    )
    parser.add_argument(
        "--format",
        choices=tuple(SUFFIXES),
        help="text, json (all that dexnb knows), dex (JSON 1.0 of Dex's definition graph), "
        "mermaid, dot, svg, png (default: by --output's suffix, else text)",
    )
    parser.add_argument(
        "--output",
        metavar="FILE",
        help="write there; a folder gets one file for each Flow, named after it",
    )
    parser.add_argument(
        "--theme", choices=("auto", "light", "dark"), default="auto", help="colours of a picture"
    )
    parser.add_argument(
        "--no-findings", action="store_true", help="leave the linter's badges out of pictures"
    )
