"""Codecs of the user's, handed over where a store is opened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dexnb
from dexnb import CodecRegistry, Context, Flow, JsonCodec, Step, StepDecision, StepList
from dexnb.errors import DefinitionError


class Money:
    """A class that only a codec can store."""

    def __init__(self, cents: int) -> None:
        """Hold an amount."""
        self.cents = cents


class Doubles(Step[Money]):
    """Doubles its input."""

    def execute(self, context: Context, input: Money) -> StepDecision:
        """Complete."""
        return dexnb.graceful_complete(Money(2 * input.cents))


class MoneyFlow(Flow[Money]):
    """Takes and gives money."""

    def get_steps(self) -> StepList[Money]:
        """Give the Step."""
        return StepList.start_step(Doubles())


def codecs(unit: str) -> CodecRegistry:
    """Store amounts with a unit behind."""

    def decoded(text: str) -> Money:
        return Money(int(text.partition(" ")[0]))

    return CodecRegistry([JsonCodec("Money", decoded, lambda value: f"{value.cents} {unit}")])


def output(session: dexnb.Session, flow_id: str) -> tuple[Any, int]:
    """Run the Flow; give its output as it is stored, and as it is read on the caller's thread."""
    result = session.start(MoneyFlow(), flow_id, Money(4)).wait_sync(20)
    return result.output, result.single_output(Money).cents


def test_an_open_session_takes_the_codecs_of_a_cell_that_is_run_again(tmp_path: Path) -> None:
    """Opening without codecs changes nothing."""
    path = tmp_path / "runs.db"
    with dexnb.open(path, codecs=codecs("ct")) as session:
        assert output(session, "a") == ("8 ct", 8)
        assert dexnb.open(path, codecs=codecs("cents")) is session
        assert dexnb.open(path) is session
        assert output(session, "b") == ("8 cents", 8)


def test_a_client_and_a_lab_use_the_codecs_of_their_session(tmp_path: Path) -> None:
    """A client may bring them, too; a Lab has them at its other speeds as well."""
    path = tmp_path / "runs.db"
    with dexnb.Client(path, flows=[], codecs=codecs("ct")) as client:
        client.start_flow(MoneyFlow(), "c", Money(5))
        assert client.wait_for_flow("c", 20).single_output(Money).cents == 10
    with dexnb.open("memory:") as session:
        with dexnb.Client(session, codecs=codecs("p"), flows=[MoneyFlow()]):
            assert output(session, "d") == ("8 p", 8)
        lab = dexnb.lab(MoneyFlow, "e", Money(6), runtime=session)
        for speed in (1, 60):
            lab.set_speed(speed)
            assert lab.start().wait_sync(20).output == "12 p"
        lab.close()


@pytest.mark.parametrize("wrong", ["Money", [JsonCodec("Money", Money, str)]])
def test_what_is_no_registry_is_refused(tmp_path: Path, wrong: Any) -> None:
    """Before anything is opened."""
    with pytest.raises(DefinitionError, match=r"codecs is .*: give CodecRegistry\("):
        dexnb.open(tmp_path / "runs.db", codecs=wrong)
    with pytest.raises(DefinitionError, match="codecs is"):
        dexnb.Runtime("memory:", codecs=wrong)
    assert not (tmp_path / "runs.db").exists()
