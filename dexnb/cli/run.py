"""`dexnb run`: start a Flow, or go on with it, and watch it until it ends."""

from __future__ import annotations

import argparse
import logging
import secrets
import shlex
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from dexnb import connect
from dexnb.cli.exits import FAILED, INTERRUPTED, OK
from dexnb.cli.kill import tell_started
from dexnb.cli.place import Place, job_server, place
from dexnb.cli.rerun import arguments_of
from dexnb.cli.resume import resumed
from dexnb.cli.shown import Shown, choose
from dexnb.cli.target import load_all, locate, read_input
from dexnb.cli.text import message, printable
from dexnb.cli.watched import Watched
from dexnb.clock import monotonic
from dexnb.engine import Run, RuntimeOptions, Session
from dexnb.errors import RunNotFound
from dexnb.flow.registry import RegisteredFlow
from dexnb.model.json_text import to_text

FRAME_SECONDS = 0.1

READING_SHARE = 10
"""A frame lasts at least this many times as long as reading the log took."""

CODE_SECONDS = 1.0
"""How often the view asks whether the run waits for code."""

LONGEST_OUTPUT = 2000


def run(options: argparse.Namespace) -> int:
    """Do what the command line asks for; give the exit code.

    Raises:
        DexnbError: It cannot be done.
    """
    target = locate(options.target)
    where = place(
        target.stem,
        options.clock,
        database=options.db,
        serve_jobs=options.serve_jobs,
        jobs=options.jobs_state,
    )
    # The view tells of failed attempts in its own place.
    logging.getLogger("dexnb").addHandler(logging.NullHandler())
    with ExitStack() as stack:
        if options.serve_jobs:
            stack.enter_context(job_server(where))
        flow, codecs = load_all(target)
        with codecs.used():
            input = read_input(flow, options.input)
        # The view shows what Steps print, each line beside what happened then.
        settings = RuntimeOptions(show_prints=False)
        session = connect.open(where.database, clock=where.clock, options=settings, codecs=codecs)
        stack.callback(session.close)
        flow_id = _flow_id(session, flow) if options.flow_id is None else options.flow_id
        goes_on = _is_open(session, flow_id)
        running = session.start(flow.flow, flow_id, input)
        tell_started()
        _tell(_beginning(flow_id, where, goes_on=goes_on, input=options.input))
        shown = choose(plain=options.plain, json=options.json, hint=_hint(where))
        with detaching() as detached:
            watched = watch(session, running, shown, detached)
        if not watched.closed:
            _tell(_detached(options, where, flow_id))
            return INTERRUPTED
        if not options.json:
            _report(flow, running)
    return OK if watched.view["status"] == "COMPLETED" else FAILED


def watch(session: Session, running: Run, shown: Shown, detached: threading.Event) -> Watched:
    """Show a run until it ends or the watcher leaves; the run is left alone."""
    watched, asked = Watched(), -CODE_SECONDS
    with shown:
        while not (watched.closed or detached.is_set()):
            begun = monotonic()
            new = watched.take(running.events(watched.durable_seq))
            if begun - asked >= CODE_SECONDS:
                asked = begun
                watched.waiting_for_code = running.waiting_for_code
            shown.update(watched, new, session.now())
            if not watched.closed:
                detached.wait(max(FRAME_SECONDS, READING_SHARE * (monotonic() - begun)))
    return watched


@contextmanager
def detaching() -> Iterator[threading.Event]:
    """Give what the first Ctrl-C sets; the second one interrupts at once.

    So a picture that is being drawn is finished, and nothing is torn.
    """
    detached = threading.Event()

    def leave(*_: object) -> None:
        signal.signal(signal.SIGINT, before)
        detached.set()

    before = signal.signal(signal.SIGINT, leave)
    try:
        yield detached
    finally:
        signal.signal(signal.SIGINT, before)


def _flow_id(session: Session, flow: RegisteredFlow) -> str:
    for running in session.runs(status="RUNNING"):
        if running.state().flow_type == flow.flow_type:
            return running.flow_id
    return f"{flow.flow_type}-{secrets.token_hex(3)}"


def _is_open(session: Session, flow_id: str) -> bool:
    try:
        return session.get(flow_id).status == "RUNNING"
    except RunNotFound:
        return False


def _beginning(flow_id: str, where: Place, *, goes_on: bool, input: str | None) -> str:
    did = "goes on" if goes_on else "started"
    unused = "; --input is for a new run and was not used" if goes_on and input else ""
    return f"{printable(flow_id)} {did} in {where.database}{unused}"


def _hint(where: Place) -> str:
    stays = "the Flow stays open" if where.kept else "the Flow is gone then"
    return f"Ctrl-C stops watching; {stays}"


def _detached(options: argparse.Namespace, where: Place, flow_id: str) -> str:
    if not where.kept:
        return f"stopped watching; {where.database} keeps nothing, so the Flow is gone"
    # As it is shown: the address of a server without its password.
    shown = arguments_of(options, flow_id=flow_id, database=f"{where.database}")
    command = shlex.join(["dexnb", "run", *shown])
    return f"stopped watching; the Flow stays open in {where.database}. To go on:\n  {command}"


def _report(flow: RegisteredFlow, running: Run) -> None:
    result = running.result
    for completion in result.completions if result is not None else ():
        if completion.has_output:
            print(f"output: {message(to_text(completion.document), LONGEST_OUTPUT)}")
    streams = [running.stream(name) for name in flow.streams]
    for attempt in resumed(running.events(), streams):
        print(attempt)


def _tell(text: str) -> None:
    print(f"dexnb run: {text}", file=sys.stderr, flush=True)
