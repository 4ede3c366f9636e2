"""The arguments of a command, from its options."""

from __future__ import annotations

import pytest

from dexnb.cli.command import make_parser
from dexnb.cli.rerun import arguments_of

TARGET = "a.py:F"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--flow-id=a b", "--input=-1", "--db=x y.db", "--jobs-state=s", "--serve-jobs"],
        ["--clock=x10", "--plain"],
        ["--clock=x2.5", "--json"],
        ["--clock=virtual"],
    ],
)
def test_options_give_their_arguments_again(arguments: list[str]) -> None:
    """What the child or a reader runs is what was asked for."""
    options = make_parser().parse_args(["run", TARGET, *arguments])
    assert sorted(arguments_of(options)) == sorted([TARGET, *arguments])


def test_the_kill_is_left_out_and_the_flow_id_put_in() -> None:
    """The next command names the Flow, and nobody kills it."""
    options = make_parser().parse_args(["run", TARGET, "--kill-after", "3"])
    assert arguments_of(options, flow_id="f-1") == [TARGET, "--flow-id=f-1"]


def test_a_database_is_shown_as_it_may_be() -> None:
    """The address of a server without its password; a default database is not named at all."""
    options = make_parser().parse_args(["run", TARGET, "--db=redis://:secret@h:6379/0"])
    assert arguments_of(options, database="redis://h:6379/0") == [TARGET, "--db=redis://h:6379/0"]
    options = make_parser().parse_args(["run", TARGET])
    assert arguments_of(options, database="x.db") == [TARGET]
