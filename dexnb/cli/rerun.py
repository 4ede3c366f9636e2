"""The arguments of `dexnb run` again, from its options: for a child process, or to be copied."""

from __future__ import annotations

import argparse

from dexnb.clock import Clock


def arguments_of(
    options: argparse.Namespace, *, flow_id: str | None = None, database: str | None = None
) -> list[str]:
    """Give the arguments that lead to these options, `--kill-after` left out.

    Args:
        options: What was asked for.
        flow_id: The flow id to name; by default the one that was asked for, if any.
        database: What to show in place of the database that was asked for.
    """
    arguments: list[str] = [options.target]
    valued = {
        "--flow-id": options.flow_id if flow_id is None else flow_id,
        "--input": options.input,
        "--db": options.db and (database or options.db),
        "--jobs-state": options.jobs_state,
        "--clock": None if options.clock.kind == "real" else _clock(options.clock),
    }
    for name, value in valued.items():
        if value is not None:
            # In one word, because a value may begin with a dash.
            arguments.append(f"{name}={value}")
    flags = ("serve_jobs", "plain", "json")
    return arguments + [f"--{flag.replace('_', '-')}" for flag in flags if getattr(options, flag)]


def _clock(clock: Clock) -> str:
    return "virtual" if clock.kind == "virtual" else f"x{clock.factor!r}".removesuffix(".0")
