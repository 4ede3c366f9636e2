"""`Finding`: what a linter or a budget has to say about one place of a Flow, as a document."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from dexnb.errors import DocumentError

FindingSeverity = Literal["error", "warning", "note"]
"""`error` goes wrong in some run, `warning` is likely to, `note` is worth knowing."""

SEVERITIES: tuple[FindingSeverity, ...] = ("error", "warning", "note")
"""The worst first."""

Verdict = Literal["found", "cannot tell"]
"""`cannot tell`: the code hides what the rule judges; silence would look like an all-clear."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A stretch of source.

    Args:
        path: Its file or notebook, as it was named by who asked; empty for a live cell.
        cell: The cell's id in a notebook, or its label in a kernel (`In [3]`); empty in a file.
        line: First line, from 1, in the file or the cell; 0 where it is not known.
        column: Of the first character, from 0, in characters.
        end_line: Last line.
        end_column: Behind the last character.
    """

    path: str = ""
    cell: str = ""
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0


@dataclass(frozen=True, slots=True)
class Edit:
    """A stretch of source and the text to put there."""

    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that make a finding go away and change nothing else that a run can show.

    Args:
        title: What they do, as a command: `make the call wait at most CALL_TIMEOUT`.
        edits: Of one file or several; none overlaps another.
    """

    title: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule says about one place.

    Args:
        code: The rule's stable code, `DX101`.
        name: The rule's stable name, `timer-self-loop`.
        severity: How much it matters.
        message: What is wrong there, with the names and values that show it.
        hint: What to do instead.
        place: Where.
        flow: The Flow's type; empty where it belongs to none.
        node: Id of the FlowGraph's node that carries its badge; empty for the Flow itself.
        verdict: Whether it was found, or could not be told.
        fix: Edits that are safe to apply, or None.
    """

    code: str
    name: str
    severity: FindingSeverity
    message: str
    hint: str = ""
    place: Place = Place()
    flow: str = ""
    node: str = ""
    verdict: Verdict = "found"
    fix: Fix | None = None

    def to_json(self) -> dict[str, Any]:
        """Give the plain JSON form."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Finding:
        """Read the plain JSON form.

        Raises:
            DocumentError: It is no finding.
        """
        try:
            fix = document.get("fix")
            return cls(
                **{
                    **document,
                    "place": Place(**document["place"]),
                    "fix": None if fix is None else _fix_from(fix),
                }
            )
        except (KeyError, TypeError, AttributeError) as error:
            message = f"Finding cannot be read: {type(error).__name__} {error}"
            raise DocumentError(message) from error


def _fix_from(document: dict[str, Any]) -> Fix:
    edits = (Edit(Place(**edit["place"]), edit["text"]) for edit in document["edits"])
    return Fix(document["title"], tuple(edits))
