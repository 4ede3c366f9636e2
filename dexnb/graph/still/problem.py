"""`SourceProblem`: what the reader of a source text could not read, or what cannot hold there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dexnb.model.finding import Place

ProblemKind = Literal["not-parsed", "skipped", "cannot-tell", "definition"]
"""`not-parsed`: the text, or a cell, is no Python that can be read. `skipped`: a cell of another
language. `cannot-tell`: what only running the text could tell. `definition`: the Flow cannot be
registered so."""


NOWHERE = Place()


@dataclass(frozen=True, slots=True)
class SourceProblem:
    """One problem, where it stands.

    Args:
        kind: What it means for the rest.
        message: What is wrong, and what to do.
        place: Where.
        flow: The Flow's type, where it is one's.
        step: The Step's type, where it is one's.
        field: The option or the method whose value is not known, where it is one's.
    """

    kind: ProblemKind
    message: str
    place: Place = NOWHERE
    flow: str = ""
    step: str = ""
    field: str = ""
