"""From the command line to a Flow, and what is said when there is none."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dexnb.cli.target import CommandError, load, locate, read_input
from dexnb.errors import FlowDefinitionError

ONE = """
from dataclasses import dataclass
from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, graceful_complete

@dataclass
class Order:
    item: str
    count: int = 1

class Take(Step[Order]):
    async def execute(self, context: AsyncContext, input: Order) -> StepDecision:
        return graceful_complete(input.count)

class OrderFlow(Flow[Order]):
    def get_steps(self) -> StepList[Order]:
        return StepList.start_step(Take())
"""


@pytest.fixture(autouse=True)
def own_modules(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Work in an empty folder, and forget what a test imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


def write(name: str, text: str) -> str:
    """Write a file here; give its name."""
    Path(name).write_text(text, "utf-8")
    return name


def refusal(target: str) -> str:
    """Give what is said about a target that cannot be used."""
    with pytest.raises(CommandError) as caught:
        load(locate(target))
    return str(caught.value)


def test_a_flow_is_found_in_a_module() -> None:
    """By its dotted name, as Python finds it."""
    flow = load(locate("dexnb.examples.polling:PollingFlow"))
    assert (flow.flow_type, sorted(flow.steps)) == (
        "PollingFlow",
        ["AwaitJob", "RecordJobWaitFailure", "StartJob"],
    )


def test_a_flow_is_found_in_a_file() -> None:
    """Annotations that name the file's own classes are resolved."""
    write("orders.py", ONE)
    assert load(locate("orders.py:OrderFlow")).flow_type == "OrderFlow"


def test_a_module_in_this_folder_is_found() -> None:
    """As with `python -m`."""
    write("orders_here.py", ONE)
    assert load(locate("orders_here:OrderFlow")).flow_type == "OrderFlow"


def test_the_only_flow_needs_no_name() -> None:
    """Imported base classes and other modules' Flows do not count."""
    write("orders.py", ONE + "\nfrom dexnb.examples.polling import PollingFlow\n")
    assert load(locate("orders.py")).flow_type == "OrderFlow"
    assert locate("orders.py").stem == "orders"
    assert locate("dexnb.examples.polling").stem == "polling"


def test_an_instance_is_a_flow_too() -> None:
    """For Flows whose constructor takes something."""
    write("orders.py", ONE + "\nMINE = OrderFlow()\n")
    assert load(locate("orders.py:MINE")).flow_type == "OrderFlow"


def test_a_file_named_like_a_module_of_python_does_not_replace_it() -> None:
    """`json.py` in one's folder is a common accident."""
    import json

    write("json.py", ONE)
    assert load(locate("json.py:OrderFlow")).flow_type == "OrderFlow"
    assert sys.modules["json"] is json


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("no_such_module:F", "there is no module 'no_such_module' from here"),
        ("no.such.module:F", "there is no module 'no.such.module' from here"),
        ("dexnb.examples.nope:F", "there is no module 'dexnb.examples.nope' from here"),
        ("dexnb.examples.polling.x:F", "there is no module 'dexnb.examples.polling.x' from here"),
        ("", "there is no module ''"),
        ("..:F", "there is no module '..'"),
        ("missing.py:F", "there is no file 'missing.py'"),
        ("some/folder:F", "there is no file 'some/folder'"),
        ("dexnb.examples.polling:Nope", "has no 'Nope'; Flows there: PollingFlow"),
        ("dexnb.examples.polling:POLL_INTERVAL", "POLL_INTERVAL in dexnb.examples.polling is no"),
        (
            "dexnb.examples.polling:AwaitJob",
            "is no Flow but a Step class; Flows there: PollingFlow",
        ),
        ("dexnb.examples.polling:timedelta", "is no Flow but another class; Flows there: Polling"),
        ("dexnb.examples.polling:dexnb", "is no Flow but of type module; Flows there: PollingFlow"),
        ("json:JSONDecoder", "there is no Flow in it"),
    ],
)
def test_what_is_not_there_is_named(target: str, expected: str) -> None:
    """With what is there instead."""
    assert expected in refusal(target)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import no_such_part", "cannot be imported: ModuleNotFoundError"),
        ("def broken(:\n    pass", "cannot be imported: SyntaxError: invalid syntax"),
        ("\n\n1 / 0", "cannot be imported: ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)", "cannot be imported: SystemExit: 3"),
        ("import asyncio; raise asyncio.CancelledError", "cannot be imported: CancelledError: "),
        ("raise GeneratorExit('x')", "cannot be imported: GeneratorExit: x"),
        ("class Odd(BaseException): pass\n\nraise Odd('y')", "cannot be imported: Odd: y"),
        ("class Nothing: pass", "name the Flow as mine.py:FLOW; there is no Flow in it"),
    ],
)
def test_a_file_that_cannot_be_imported_says_what_and_where(source: str, expected: str) -> None:
    """One line with the place, no traceback."""
    text = refusal(write("mine.py", source))
    assert expected in text
    if "cannot be imported" in expected:
        assert f"mine.py, line {3 if source.count(chr(10)) == 2 else 1})" in text


@pytest.mark.parametrize("package", [False, True])
def test_an_interrupt_that_is_none_is_the_codes_own_fault(*, package: bool) -> None:
    """Where Ctrl-C is heard otherwise, as in a worker, only code raises one; else it is Ctrl-C."""
    interrupt = "raise KeyboardInterrupt"
    if package:
        Path("pack").mkdir()
        write("pack/__init__.py", interrupt)
        write("pack/mine.py", "")
    else:
        write("mine.py", interrupt)
    target = "pack.mine:F" if package else "mine.py:F"
    with pytest.raises(KeyboardInterrupt):
        refusal(target)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert "cannot be imported: KeyboardInterrupt" in refusal(target)
    finally:
        signal.signal(signal.SIGINT, before)


def test_two_flows_need_a_name() -> None:
    """Nothing is guessed."""
    write("two.py", f"{ONE}\nclass OtherFlow(OrderFlow):\n    pass\n")
    assert "Flows there: OrderFlow, OtherFlow" in refusal("two.py")


def test_a_flow_that_cannot_be_made_says_why() -> None:
    """A constructor with parameters, or one that raises."""
    write("mine.py", ONE + "\n    def __init__(self, url): pass\n")
    assert "OrderFlow cannot be made a Flow: TypeError" in refusal("mine.py")


def test_a_flow_that_does_not_hold_lists_its_problems() -> None:
    """The same text as in a notebook."""
    write("mine.py", ONE.replace("input: Order)", "input)"))
    with pytest.raises(FlowDefinitionError, match="annotate the input's type"):
        load(locate("mine.py:OrderFlow"))


def test_an_input_becomes_what_the_start_step_declares() -> None:
    """From JSON, defaults filled in."""
    write("orders.py", ONE)
    flow = load(locate("orders.py"))
    order = read_input(flow, '{"item": "tea", "count": 2}')
    assert (type(order).__name__, order.item, order.count) == ("Order", "tea", 2)
    assert read_input(load(locate("dexnb.examples.polling")), None) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, "give --input JSON that makes a Order"),
        ("tea", "--input is 'tea', which is not JSON"),
        ("[1]", "value must be Order, stands [1]"),
        ('{"count": 2}', "missing 1 required positional argument: 'item'"),
        ('{"item": "tea", "count": "two"}', "value.count must be int, stands 'two'"),
    ],
)
def test_an_input_that_does_not_fit_says_what_would(text: str | None, expected: str) -> None:
    """Missing, no JSON, or another shape."""
    write("orders.py", ONE)
    with pytest.raises(CommandError) as caught:
        read_input(load(locate("orders.py")), text)
    assert expected in str(caught.value)
