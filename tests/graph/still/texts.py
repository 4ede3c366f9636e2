"""Texts of Flows, put together for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dexnb.graph import read_source
from dexnb.graph.still import FoundFlow

HEAD = """\
from __future__ import annotations
import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import Any, Generic, TypeVar
from dexnb import (
    AsyncContext, Attribute, Channel, Context, Flow, PersistenceSchema, RetryPolicy, RPCResult,
    Step, StepDecision, StepList, StepOptions, Stream, Timer, Wait, dead_end, force_fail, go_to,
    graceful_complete, rpc,
)
"""
END = """
class End(Step[int]):
    def execute(self, context: Context, input: int) -> StepDecision:
        return graceful_complete()
"""


def flow_in(text: str) -> FoundFlow:
    """Read the only Flow of a text, which stands behind the usual imports."""
    reading = read_source(f"{HEAD}{END}{text}")
    assert len(reading.flows) == 1, reading.problems
    return reading.flows[0]


def options_of(body: str, more: str = "") -> FoundFlow:
    """Read a Flow with one Step whose get_step_options has this body."""
    inner = "\n".join(f"        {line}" for line in body.strip().split("\n"))
    return flow_in(
        f"{more}\n"
        "class S(Step[int]):\n"
        "    def execute(self, context: Context, input: int) -> StepDecision:\n"
        "        return graceful_complete()\n"
        "    def get_step_options(self) -> StepOptions:\n"
        f"{inner}\n"
        "class F(Flow[int]):\n"
        "    def get_steps(self) -> StepList[int]:\n"
        "        return StepList.start_step(S())\n"
    )


def write_notebook(path: Path, *cells: str, ids: bool = True, **metadata: Any) -> Path:
    """Write a notebook of code cells; one that begins with `#md` is of text."""
    made: list[dict[str, Any]] = []
    for number, source in enumerate(cells, 1):
        text = source.startswith("#md")
        cell: dict[str, Any] = {"cell_type": "markdown" if text else "code", "metadata": {}}
        cell["source"] = source.splitlines(keepends=True)
        if ids:
            cell["id"] = f"c{number}"
        if not text:
            cell |= {"outputs": [], "execution_count": None}
        made.append(cell)
    document = {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": made}
    path.write_text(json.dumps(document))
    return path
