"""Every rule has its test or is a deviation with its reason, and the stored table says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules import table
from tests.rules.deviations import DEVIATIONS, NO_TEST
from tests.rules.rules import RULES


@pytest.fixture(scope="module")
def marked() -> table.Marked:
    """Read the marks of all tests."""
    return table.marked_tests()


def test_no_rule_is_left_without_a_test(marked: table.Marked) -> None:
    """A rule that is kept has a test of it; so has a deviation whose behaviour can be seen."""
    assert [rule for rule in RULES if rule not in marked and rule not in NO_TEST] == []


def test_no_mark_names_a_rule_that_does_not_exist(marked: table.Marked) -> None:
    """A misspelt id would prove nothing."""
    assert sorted(marked.keys() - RULES.keys()) == []


def test_every_deviation_is_of_a_rule_and_has_a_reason(marked: table.Marked) -> None:
    """What has no test is a deviation; what has one needs no excuse."""
    assert DEVIATIONS.keys() <= RULES.keys()
    assert all(reason.strip() for reason in DEVIATIONS.values())
    assert DEVIATIONS.keys() >= NO_TEST
    assert sorted(NO_TEST & marked.keys()) == []


def test_every_rule_is_one_sentence_of_a_known_section() -> None:
    """Ids are stable: a section, a slash, and words."""
    for rule, sentence in RULES.items():
        section, _, name = rule.partition("/")
        assert section in {"1.10", *(f"2.{number}" for number in range(1, 14))}
        assert name
        assert name == name.lower()
        assert " " not in name
        assert sentence.endswith(".")
        assert "|" not in sentence


def test_the_stored_table_is_up_to_date(marked: table.Marked) -> None:
    """`python -m tests.rules.table` writes it."""
    print(table.counts(marked))
    assert table.TABLE.read_text("utf-8") == table.table_text(marked), (
        "run `python -m tests.rules.table`"
    )


def test_a_mark_is_read_wherever_a_test_may_stand(tmp_path: Path) -> None:
    """In a module and in a class, several ids at once; on what is no test it is refused."""
    good = (
        '@pytest.mark.rule("2.1/retry", "2.5/delay")\n'
        "def test_a() -> None: ...\n\n"
        "class TestB:\n"
        '    @pytest.mark.rule("2.5/delay")\n'
        "    async def test_c(self) -> None: ...\n"
    )
    (tmp_path / "test_x.py").write_text(good, "utf-8")
    assert table.marked_tests(tmp_path) == {
        "2.1/retry": ["tests/test_x.py::test_a"],
        "2.5/delay": ["tests/test_x.py::test_a", "tests/test_x.py::TestB::test_c"],
    }
    (tmp_path / "test_y.py").write_text('@pytest.mark.rule("2.5/delay")\ndef make(): ...\n')
    with pytest.raises(ValueError, match="make has a rule and is no test"):
        table.marked_tests(tmp_path)
