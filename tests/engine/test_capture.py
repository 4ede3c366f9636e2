"""Prints and log records of Steps land in their own run, and nowhere else."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import io
import logging
import os
import sys
import threading
import types
from collections.abc import Callable, Coroutine, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from dexnb import Context, StepDecision, StepOutput, graceful_complete, heartbeat
from dexnb.engine import AsyncRun, Runtime
from dexnb.engine.capture import CapturingStream
from dexnb.flow.context import AsyncContext
from dexnb.providers import MemoryProvider
from tests.engine.flows import fast, finished, flow, step, telemetry, virtual, with_runtime

LOGGER = logging.getLogger("tests.capture")


@contextlib.contextmanager
def terminal() -> Iterator[io.StringIO]:
    """Stand for the terminal: what is written here was shown to people."""
    shown, root = io.StringIO(), logging.getLogger()
    before = sys.stdout, sys.stderr, root.handlers[:]
    sys.stdout = sys.stderr = shown
    # Without pytest's own, as in a user's process.
    root.handlers[:] = []
    try:
        yield shown
    finally:
        sys.stdout, sys.stderr, root.handlers[:] = before


async def lines(run: AsyncRun) -> list[tuple[str, str]]:
    """Give source and text of a run's log lines."""
    events = await telemetry(run, "log")
    return [(event.payload["source"], event.payload["line"]) for event in events]


async def talks(context: AsyncContext, input: Any) -> StepDecision:
    """Print and log around other Flows' turns."""
    for number in range(3):
        print("printed", context.flow_id, number)
        LOGGER.warning("logged %s %d", context.flow_id, number)
        await asyncio.sleep(1)
    print("to stderr", file=sys.stderr)
    return graceful_complete()


def shown_by(
    main: Callable[[Runtime], Coroutine[Any, Any, None]], *, show_prints: bool | None = False
) -> str:
    """Run on a virtual clock with a runtime; give what was shown on the terminal."""

    async def inside() -> None:
        async with Runtime(MemoryProvider(), options=fast(show_prints=show_prints)) as runtime:
            await main(runtime)

    with terminal() as out:
        virtual(inside)()
        assert sys.stdout is sys.stderr is out
    return out.getvalue()


def test_prints_and_records_of_two_flows_land_each_in_its_own_run() -> None:
    """Interleaved in time, apart in the logs, and not on the terminal."""

    async def main(runtime: Runtime) -> None:
        made = flow(talks)
        runs = {name: await runtime.start(made, name) for name in ("a", "b")}
        for name, run in runs.items():
            await finished(run)
            expected = []
            for number in range(3):
                expected.append(("stdout", f"printed {name} {number}"))
                expected.append(("WARNING", f"tests.capture: logged {name} {number}"))
            assert await lines(run) == [*expected, ("stderr", "to stderr")]

    assert shown_by(main) == ""


def test_what_is_printed_outside_of_steps_passes_through() -> None:
    """While Steps print, too."""

    async def main(runtime: Runtime) -> None:
        run = await runtime.start(flow(talks), "flow")
        await asyncio.sleep(0.5)
        print("from the cell")
        logging.getLogger("cell").warning("no handler is configured")
        await finished(run)

    # Python's handler of last resort writes to the stderr of the moment.
    assert shown_by(main).split("\n") == ["from the cell", "no handler is configured", ""]


@pytest.mark.parametrize("form", ["async", "sync", "generator"])
def test_every_form_of_step_is_captured_with_what_it_starts(form: str) -> None:
    """Tasks and to_thread take the context along; a line may come in pieces."""

    async def prints(context: AsyncContext, input: Any) -> StepDecision:
        await asyncio.create_task(child())
        await asyncio.to_thread(print, "from a thread")
        sys.stdout.write("in ")
        sys.stdout.write("pieces\nand more")
        return graceful_complete()

    async def child() -> None:
        print("from a task")

    def prints_sync(context: Context, input: Any) -> StepDecision:
        sys.stdout.write("in ")
        sys.stdout.writelines(["pieces\n", "and more"])
        return graceful_complete()

    def prints_generating(
        context: Context, input: Any
    ) -> Generator[StepOutput, None, StepDecision]:
        yield heartbeat()
        print("in pieces\nand more", end="", flush=True)
        return graceful_complete()

    forms = {"async": prints, "sync": prints_sync, "generator": prints_generating}

    async def main(runtime: Runtime) -> None:
        run = await runtime.start(flow(step(forms[form])), "flow")
        await finished(run)
        found = await lines(run)
        assert found[-2:] == [("stdout", "in pieces"), ("stdout", "and more")]
        if form == "async":
            assert found[:2] == [("stdout", "from a task"), ("stdout", "from a thread")]

    assert shown_by(main) == ""


@pytest.mark.parametrize(
    ("show_prints", "notebook", "shown"),
    [(None, False, True), (None, True, False), (True, True, True), (False, False, False)],
)
def test_outside_of_notebooks_a_steps_lines_are_shown_as_well(
    monkeypatch: pytest.MonkeyPatch, show_prints: bool | None, notebook: bool, shown: bool
) -> None:
    """Unless the options say otherwise; the run's log has them in any case."""
    shell = types.SimpleNamespace(get_ipython=lambda: object() if notebook else None)
    monkeypatch.setitem(sys.modules, "IPython", shell)

    async def main(runtime: Runtime) -> None:
        run = await runtime.start(flow(talks), "a")
        await finished(run)
        assert len(await lines(run)) == 7

    # Python's handler of last resort writes the bare text of a warning.
    expected = [f"{verb} a {number}" for number in range(3) for verb in ("printed", "logged")]
    text = "\n".join([*expected, "to stderr", ""]) if shown else ""
    assert shown_by(main, show_prints=show_prints) == text


@with_runtime
async def test_an_output_that_cannot_be_written_to_fails_no_step(runtime: Runtime) -> None:
    """The reader of a pipe that has gone takes only what is shown along."""

    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

        def flush(self) -> None:
            raise BrokenPipeError

    async def prints(context: AsyncContext, input: Any) -> StepDecision:
        print("kept", flush=True)
        return graceful_complete()

    runtime.options.show_prints = True
    with contextlib.redirect_stdout(Gone()):
        run = await runtime.start(flow(prints), "flow")
        assert (await finished(run)).status == "COMPLETED"
    assert await lines(run) == [("stdout", "kept")]


def test_a_handler_for_the_console_writes_a_record_that_is_shown_once() -> None:
    """And what it writes is not taken for a print of the Step."""

    async def main(runtime: Runtime) -> None:
        with handlers((LOGGER, logging.StreamHandler())):
            run = await runtime.start(flow(talks), "a")
            await finished(run)
        assert len(await lines(run)) == 7

    assert shown_by(main, show_prints=True).count("logged a") == 3


@contextlib.contextmanager
def handlers(*made: tuple[logging.Logger, logging.Handler]) -> Iterator[None]:
    """Put handlers on loggers for a while."""
    for logger, handler in made:
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger, handler in made:
            logger.removeHandler(handler)


def test_a_handler_for_the_console_skips_records_of_steps() -> None:
    """One made before the engine, too; handlers for files and the like still get them."""
    kept = io.StringIO()

    async def main(runtime: Runtime) -> None:
        with handlers((LOGGER, logging.StreamHandler())):
            run = await runtime.start(flow(talks), "flow")
            LOGGER.warning("from the cell")
            await finished(run)
            assert ("WARNING", "tests.capture: logged flow 2") in await lines(run)

    async def inside() -> None:
        async with Runtime(MemoryProvider(), options=fast(show_prints=False)) as runtime:
            await main(runtime)

    root = logging.getLogger()
    with terminal() as out:
        early = logging.StreamHandler(out), logging.StreamHandler(kept)
        with handlers(*((root, handler) for handler in early)):
            virtual(inside)()
    assert out.getvalue() == "from the cell\n" * 2
    assert kept.getvalue().count("logged flow") == 3


def test_an_open_engine_leaves_basic_config_to_the_user() -> None:
    """`logging.basicConfig` in a later cell works as without dexnb."""

    async def main(runtime: Runtime) -> None:
        logging.basicConfig(format="%(message)s")
        logging.getLogger("cell").warning("as configured")

    assert shown_by(main) == "as configured\n"


def test_a_broken_record_is_kept_and_fails_no_step() -> None:
    """Wrong arguments and errors with a text that cannot be made are the record's own affair."""

    async def logs(context: AsyncContext, input: Any) -> StepDecision:
        LOGGER.warning("%d", "no number")
        try:
            raise ValueError("boom")
        except ValueError:
            LOGGER.exception("caught")
        return graceful_complete()

    async def main(runtime: Runtime) -> None:
        run = await runtime.start(flow(logs), "flow")
        assert (await finished(run)).status == "COMPLETED"
        (first, second) = await lines(run)
        assert first[1].startswith("tests.capture: '%d' (TypeError")
        assert second == ("ERROR", "tests.capture: caught (ValueError: boom)")

    assert shown_by(main) == ""


@with_runtime
async def test_long_lines_are_cut(runtime: Runtime) -> None:
    """A line without an end does not gather for ever."""

    async def prints(context: AsyncContext, input: Any) -> StepDecision:
        print("x" * 100_000)
        for _ in range(3):
            sys.stdout.write("y" * 5_000)
        return graceful_complete()

    run = await runtime.start(flow(prints), "flow")
    await finished(run)
    assert [len(text) for _, text in await lines(run)] == [4096] * 2


def test_a_stream_that_somebody_puts_in_place_meanwhile_is_captured_too() -> None:
    """`redirect_stdout` in a cell gets the cell's prints and none of the Steps'."""
    caught = io.StringIO()

    async def main(runtime: Runtime) -> None:
        with contextlib.redirect_stdout(caught):
            run = await runtime.start(flow(talks), "flow")
            await asyncio.sleep(0.5)
            print("from the cell")
            await finished(run)
        print("after it")
        run = await runtime.start(flow(talks, name="Again"), "again")
        await finished(run)
        assert len(await lines(run)) == 7

    assert shown_by(main) == "after it\n"
    assert caught.getvalue() == "from the cell\n"


def test_streams_are_restored_when_the_last_engine_has_closed() -> None:
    """Two engines share the capture; a replacement that somebody made is left alone."""

    async def main(out: io.StringIO) -> None:
        async with Runtime(MemoryProvider()):
            first = sys.stdout
            assert isinstance(first, CapturingStream)
            async with Runtime(MemoryProvider()):
                assert sys.stdout is first
            assert sys.stdout is first
        assert sys.stdout is out
        mine = io.StringIO()
        async with Runtime(MemoryProvider()):
            sys.stdout = mine
        assert sys.stdout is mine

    with terminal() as out:
        virtual(main)(out)


def test_the_capture_shows_the_stream_behind_it() -> None:
    """Encoding, flush and what else a stream has are those of the wrapped one."""

    class Fancy(io.StringIO):
        encoding = "latin-1"
        extra = "kernel"
        flushed = 0

        def flush(self) -> None:
            self.flushed += 1

    fancy = Fancy()
    stream: Any = CapturingStream(fancy, "stdout")
    assert (stream.encoding, stream.extra, stream.isatty()) == ("latin-1", "kernel", False)
    stream.flush()
    assert fancy.flushed == 1
    del stream
    assert not fancy.closed
    with pytest.raises(AttributeError, match="nonsense"):
        _ = CapturingStream(fancy, "stdout").nonsense


def test_a_capture_is_copied_as_far_as_what_is_behind_it() -> None:
    """Libraries copy what they find in `sys.stdout`, and ask one that is half made for more."""
    behind = io.StringIO()
    stream: Any = CapturingStream(behind, "stdout")
    print("said", file=copy.copy(stream))
    assert behind.getvalue() == "said\n"
    half_made = CapturingStream.__new__(CapturingStream)
    for name in ("wrapped", "encoding", "anything", "__setstate__"):
        assert not hasattr(half_made, name)
    assert isinstance(copy.deepcopy(stream), CapturingStream)
    with Path(os.devnull).open("w", encoding="utf-8") as file, pytest.raises(TypeError):
        copy.deepcopy(CapturingStream(file, "stdout"))


def test_threads_that_print_at_once_keep_their_lines_apart() -> None:
    """Outside of Steps the wrapped stream does what it always did."""

    async def main(runtime: Runtime) -> None:
        threads = [
            threading.Thread(target=lambda: [print("a" * 10) for _ in range(200)]) for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert shown_by(main).count("a") == 3 * 200 * 10
