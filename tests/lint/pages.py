"""The page of all rules, made from their docstrings: `python -m tests.lint.pages`."""

from __future__ import annotations

import re
import textwrap

from dexnb.lint import Rule, rules
from dexnb.lint.notices import NOTICES, Notice
from tests.house.tree import ROOT

PAGE = ROOT / "docs/lint.md"
SECTIONS = ("What", "Why", "Instead")
TOLD: tuple[Rule | Notice, ...] = (*rules(), *NOTICES)
"""What findings can say."""

HEAD = """\
# Rules of the linter

Made by `python -m tests.lint.pages` from the docstrings of the rules; do not edit.
`error` goes wrong in some run, `warning` is likely to, `note` is worth knowing.
A finding of a rule may also say that it cannot be told: the code hides what the rule judges.
A comment silences rules on its line, or on the first line of its statement:
`# dexnb: ignore[DX104]`, `# dexnb: ignore[unbounded-call]`, or `# dexnb: ignore` for all of them.
On a line of its own before the first statement it is for the whole file or cell.
The last three are no rules: they say what could not be judged.

| code | name | severity | what it finds |
|---|---|---|---|
"""


def page() -> str:
    """Give the whole page."""
    table = "".join(
        f"| [{rule.code}](#{_anchor(rule)}) | `{rule.name}` | {rule.severity} | {rule.summary} |\n"
        for rule in TOLD
    )
    return HEAD + table + "".join(map(_section, TOLD))


def sections_of(rule: Rule | Notice) -> dict[str, str]:
    """Give the sections of a rule's docstring by their titles."""
    parts = re.split(r"^(\w+):\n", rule.page, flags=re.MULTILINE)[1:]
    titles, texts = parts[::2], parts[1::2]
    return {title: textwrap.dedent(text) for title, text in zip(titles, texts, strict=True)}


def _anchor(rule: Rule | Notice) -> str:
    return f"{rule.code} {rule.name}".lower().replace(" ", "-")


def _section(rule: Rule | Notice) -> str:
    texts = (f"\n**{title}.** {_text(text)}" for title, text in sections_of(rule).items())
    return f"\n## {rule.code} {rule.name}\n\n{rule.summary}\n" + "".join(texts)


def _text(text: str) -> str:
    """Turn a docstring's code, which follows a double colon, into a fence."""
    prose, marker, code = text.strip().partition("::\n")
    if not marker:
        return f"{prose}\n"
    return f"{prose}:\n\n```python\n{textwrap.dedent(code).strip()}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
