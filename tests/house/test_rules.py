"""One rule, one file, one page, one data folder; the same codes everywhere."""

from __future__ import annotations

import ast
import re
import textwrap

import pytest

from dexnb.lint import Rule, explain, rules
from dexnb.lint.notices import Notice
from tests.house.tree import PACKAGE, ROOT
from tests.lint.marks import DATA, marked
from tests.lint.pages import PAGE, SECTIONS, TOLD, page, sections_of

RULES = rules()
FOLDER = PACKAGE / "lint/rules"


def test_each_rule_has_its_own_file_and_folder() -> None:
    """Files, data folders and names are the same; codes and names are given once."""
    names = sorted(rule.name for rule in RULES)
    files = sorted(path.stem.replace("_", "-") for path in FOLDER.glob("[!_]*.py"))
    assert files == names == sorted(set(names))
    assert sorted(path.name for path in DATA.iterdir()) == names
    assert len({rule.code for rule in RULES}) == len(RULES)


def test_page_and_changelog_name_the_same_codes() -> None:
    """What a reader can look up is what a finding can say."""
    codes = sorted(each.code for each in TOLD)
    table = re.findall(r"^\| \[(DX\d+)\]", PAGE.read_text("utf-8"), re.MULTILINE)
    assert table == codes
    told = set(re.findall(r"\bDX\d{3}\b", (ROOT / "CHANGELOG.md").read_text("utf-8")))
    assert sorted(told) == codes


def test_the_page_is_the_rules_own() -> None:
    """It is made anew from the docstrings: `python -m tests.lint.pages`."""
    assert PAGE.read_text("utf-8") == page()


@pytest.mark.parametrize("rule", TOLD, ids=lambda rule: rule.name)
def test_a_rule_has_its_page(rule: Rule | Notice) -> None:
    """A summary, What, Why and Instead, with an example that parses; `explain` gives it."""
    sections = sections_of(rule)
    assert rule.summary.endswith(".")
    assert tuple(sections) == SECTIONS
    code = sections["Instead"].partition("::\n")[2]
    ast.parse(f"async def example():\n{textwrap.indent(textwrap.dedent(code), '    ')}")
    assert explain(rule.code) == explain(rule.name)
    assert rule.page in explain(rule.code)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_has_bad_and_good_files(rule: Rule) -> None:
    """The bad ones mark its code, the good ones mark nothing."""
    folder = DATA / rule.name
    bad, good = sorted(folder.glob("bad*.py")), sorted(folder.glob("good*.py"))
    assert bad
    assert good
    for path in bad:
        marks = (*marked(path), *marked(path, "dex"))
        assert rule.code in {code.rstrip("?") for _, code in marks}
    assert [path.name for path in good if marked(path)] == []
