"""Source as it is shown: as many lines as there are, and no credential in them."""

from __future__ import annotations

import time

import pytest

from dexnb.errors import DocumentError
from dexnb.graph.concealed import concealed_lines

RANDOM = "q8Zr2LkV9xWm4TbN7cYp"
"""Has the form of a key, and is none."""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("state = 'RUNNING'", "state = 'RUNNING'"),
        ("password = 'hunter2'", 'password = "<hidden>"'),
        (f"call('{RANDOM}', 'x')", "call(\"<hidden>\", 'x')"),
        (f"call(rb'{RANDOM}')", 'call("<hidden>")'),
        ("get('https://me:hunter2@host/x')", 'get("<hidden>")'),
        ("log('use ghp_0123456789')", 'log("<hidden>")'),
        ("f(headers={'Authorization': key('a')})", 'f(headers={"<hidden>": key("<hidden>")})'),
        ("token = f'{one}-hunter2-{two}'", 'token = "<hidden>"'),
        ("x = 1  # password=hunter2", "x = 1  # password=<hidden>"),
        (f"x = 1  # as {RANDOM} did", "x = 1  # as <hidden> did"),
        ("x = 1  # user=me&token=hunter2", "x = 1  # user=me&token=<hidden>"),
        ("x = 1  # the token of the page", "x = 1  # the token of the page"),
        ("s = 'ä𝄞', 'ghp_0123456789'  # ä", "s = 'ä𝄞', \"<hidden>\"  # ä"),
    ],
)
def test_a_literal_that_looks_like_a_credential_is_hidden(text: str, shown: str) -> None:
    """By its form, or by what is said around it; all else stays."""
    assert concealed_lines(text) == [shown]


def test_a_docstring_keeps_its_words_but_those() -> None:
    """It may speak of tokens; it is text for people."""
    text = f'def f():\n    """Give the page token.\n\n    Not {RANDOM}.\n    """\n    return 1\n'
    assert concealed_lines(text) == [
        "def f():",
        '    """Give the page token.',
        "",
        "    Not <hidden>.",
        '    """',
        "    return 1",
        "",
    ]


def test_every_line_stays_where_it_was() -> None:
    """Also below a secret of many lines."""
    text = 'SECRET = call("""one\ntwo\nthree""", 4)\nafter = 5'
    assert concealed_lines(text) == ['SECRET = call("<hidden>"', "", ", 4)", "after = 5"]


@pytest.mark.parametrize(
    "text", ["x = '", "%magic token='hunter2", "if x:\n  y\n z", "\x00", "-" * 100_000 + "1"]
)
def test_what_is_no_python_is_not_shown(text: str) -> None:
    """In it a secret could not be told from code."""
    with pytest.raises(DocumentError, match="cannot be shown"):
        concealed_lines(text)


@pytest.mark.parametrize("part", ["a", "-", ".", "a=", "token=", "token ", "1", "a1.", ":", "=  "])
def test_a_long_word_is_read_as_quickly_as_short_ones(part: str) -> None:
    """However its letters are arranged: none is looked at again and again."""
    long, most = f"# {part * 20_000}", 20
    short = "\n".join([f"# {part * 20}"] * 1000)
    assert _seconds(long) < most * _seconds(short)


def _seconds(text: str) -> float:
    before = time.process_time()
    concealed_lines(text)
    return time.process_time() - before
