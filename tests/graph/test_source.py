"""Texts as trees: one at a time, without a word to anybody, and with one kind of error."""

from __future__ import annotations

import ast
from concurrent.futures import ThreadPoolExecutor

import pytest

from dexnb.graph.source import parsed
from tests.graph.still.test_nothing_runs import UNREADABLE


@pytest.mark.parametrize("name", sorted(UNREADABLE.keys() - {"large", "indents", "digits"}))
def test_a_text_without_a_tree_says_why_in_one_way(name: str) -> None:
    """Whatever Python itself raises for it."""
    with pytest.raises(SyntaxError) as caught:
        parsed(UNREADABLE[name])
    assert caught.value.msg


def test_a_text_may_be_an_expression() -> None:
    """And is refused where it is none."""
    assert isinstance(parsed("a.b", "eval").body, ast.Attribute)
    with pytest.raises(SyntaxError, match="invalid syntax"):
        parsed("a = b", "eval")


def test_what_python_says_of_a_text_is_nobodys_business() -> None:
    """A strange escape is no error, and no warning on anybody's screen."""
    assert isinstance(parsed(r"x = '\d'"), ast.Module)


def test_trees_of_several_threads_are_those_of_their_texts() -> None:
    """None is mixed up with another one's."""
    texts = [f"def f{n}(x):\n    return [{', '.join(['x'] * n)}]\n" for n in range(60)]
    with ThreadPoolExecutor(4) as pool:
        trees = list(pool.map(parsed, texts))
    assert [ast.unparse(tree) for tree in trees] == [text.strip() for text in texts]
