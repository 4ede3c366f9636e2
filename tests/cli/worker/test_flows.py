"""Which Flows a worker serves."""

from __future__ import annotations

from pathlib import Path

import pytest

from dexnb.cli.target import CommandError
from dexnb.cli.worker.flows import load_flows

MANY = """
from abc import abstractmethod
from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, graceful_complete
from dexnb.examples.polling import PollingFlow

with open("imported", "a") as file:
    file.write("x")

class Take(Step[None]):
    async def execute(self, context: AsyncContext, input: None) -> StepDecision:
        return graceful_complete(1)

class Base(Flow[None]):
    def get_steps(self) -> StepList[None]:
        return StepList.start_step(Take())

    @abstractmethod
    def name(self) -> str: ...

class One(Base):
    def name(self) -> str:
        return "one"

class Two(Base):
    def __init__(self, url):
        self.url = url

    def name(self) -> str:
        return "two"

TWO = Two("http://here")
"""


@pytest.fixture(autouse=True)
def module(folder: Path) -> None:
    """Put a file with several Flows there."""
    (folder / "many.py").write_text(MANY, "utf-8")


def names(*targets: str) -> list[str]:
    """Give the names of the Flows of some targets."""
    return [flow.get_flow_type() for flow in load_flows(targets)[0]]


def test_a_file_gives_each_flow_that_it_defines() -> None:
    """Neither abstract bases nor imported ones; an instance stands for its class."""
    assert names("many.py") == ["One", "Two"]


def test_targets_are_joined_and_imported_once(folder: Path) -> None:
    """Several Flows of one file, and those of a module."""
    assert names("many.py:TWO", "dexnb.examples.polling", "many.py:One") == [
        "Two",
        "PollingFlow",
        "One",
    ]
    assert (folder / "imported").read_text("utf-8") == "x"


def test_two_flows_of_one_name_are_refused() -> None:
    """Both places are named."""
    with pytest.raises(
        CommandError, match=r"two Flows are named One, in many\.py and in many\.py:One"
    ):
        load_flows(["many.py", "many.py:One"])


@pytest.mark.parametrize("again", ["many.py", "./many.py", "{folder}/many.py"])
def test_a_target_given_twice_is_refused(folder: Path, again: str) -> None:
    """However it is written: there are no two Flows to tell apart."""
    again = again.format(folder=folder)
    with pytest.raises(CommandError, match=r"target \S*many\.py is given twice: leave one out"):
        load_flows(["many.py", again])


def test_a_target_without_a_flow_is_refused() -> None:
    """With how to name one that it imports."""
    with pytest.raises(CommandError, match=r"json defines no Flow: .*json:FLOW"):
        load_flows(["json"])
