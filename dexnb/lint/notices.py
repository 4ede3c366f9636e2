"""`Notice`: what a finding can say that no rule looks for: that something could not be judged."""

from __future__ import annotations

from dataclasses import dataclass

from dexnb.model.finding import FindingSeverity


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that findings say, with its page.

    Args:
        code: Its stable code, `DX900`.
        name: Its stable name, `not-parsed`.
        severity: How much a finding of it matters, where it does not say otherwise.
        page: Its page: a summary, then What, Why and Instead.
    """

    code: str
    name: str
    severity: FindingSeverity
    page: str

    @property
    def summary(self) -> str:
        """The first line of its page."""
        return self.page.partition("\n")[0]


NOT_PARSED = Notice(
    "DX900",
    "not-parsed",
    "error",
    """\
A file or a cell cannot be read.

What:
    It is not there, is no Python or no notebook, or is nested more deeply than Python can read.

Why:
    Nothing of it is judged, and no finding is no good news.

Instead:
    Correct it, so that Python can compile it; leave out by `exclude` in `[tool.dexnb.lint]` what
    is meant to be broken::

        compile(text, path, "exec")
""",
)
UNKNOWN_IGNORE = Notice(
    "DX901",
    "unknown-ignore",
    "warning",
    """\
An ignore comment names no rule.

What:
    The code or the name in the brackets of `# dexnb: ignore[...]` is none that a finding has, or
    the comment is written in another way, as `ignore[DX104` or `ignore (DX104)`.

Why:
    It silences nothing, and whoever reads it believes that it does.

Instead:
    Name the rule by its code or its name, as findings do::

        job = await source.status()  # dexnb: ignore[unbounded-call]
""",
)
NOT_JUDGED = Notice(
    "DX902",
    "not-judged",
    "error",
    """\
A Step or a Flow is not judged, or not by every rule.

What:
    Its code is nested too deeply, or calls too much, to be read; or a rule failed on it, which is a
    fault of the linter: the finding names the rule, and the others go on.

Why:
    What is not judged has no findings, and no finding is no good news.

Instead:
    Split what is too much into Steps, or what is nested into parts. Where a rule failed report the
    fault, and leave the rule out for this Step until it is mended::

        async def execute(self, context, input):  # dexnb: ignore[not-judged]
            return go_to(Next, input)
""",
)
NOTICES = (NOT_PARSED, UNKNOWN_IGNORE, NOT_JUDGED)
