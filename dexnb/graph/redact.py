"""Code as text for pictures: without literals that look like credentials, and bounded."""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from copy import deepcopy
from typing import Any

LONGEST = 160
HIDDEN = "<hidden>"

CREDENTIAL_WORDS = (
    r"passw|secret|token|credential|api_?key|private_?key|authoriz|bearer|cookie|session_?id"
)
"""What names of credentials have in them, in letters of either case; a pattern."""

_SECRET_WORDS = re.compile(CREDENTIAL_WORDS, re.IGNORECASE)
_SECRET_FORMS = re.compile(
    r"^(?:sk-|pk_|rk_|gh[opsu]_|github_pat_|glpat-|xox[abprs]-|AKIA|ASIA|AIza|ya29\.|eyJ|hf_|"
    r"npm_|-----BEGIN)|://[^/\s:@]+:[^/\s@]+@"
)
_RANDOM_LENGTH = 20
_RANDOM_BITS = 3.2


def looks_secret(text: str) -> bool:
    """Tell whether a literal has the form of a credential: a known prefix, or random letters."""
    if _SECRET_FORMS.search(text):
        return True
    if len(text) < _RANDOM_LENGTH or not re.fullmatch(r"[\w+/=.~-]+", text):
        return False
    mixed = any(letter.isdigit() for letter in text) and any(letter.isalpha() for letter in text)
    return mixed and _entropy(text) > _RANDOM_BITS


def names_secret(text: str) -> bool:
    """Tell whether a name, or the code around a literal, speaks of credentials."""
    return _SECRET_WORDS.search(text) is not None


def _entropy(text: str) -> float:
    shares = [count / len(text) for count in Counter(text).values()]
    return -sum(share * math.log2(share) for share in shares)


class _Hide(ast.NodeTransformer):
    def __init__(self, *, every: bool) -> None:
        self.every = every

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        """Replace the text of one literal."""
        value: Any = node.value
        text = value.decode("latin-1") if isinstance(value, bytes) else value
        if isinstance(text, str) and (self.every or looks_secret(text)):
            return ast.copy_location(ast.Constant(HIDDEN), node)
        return node


def code_text(expression: ast.AST, limit: int = LONGEST, *, about: str = "") -> str:
    """Write an expression on one line of at most `limit` characters.

    Args:
        expression: It, or a pattern of a match.
        limit: How long it may be.
        about: Code that it belongs to; where that speaks of credentials, every literal is hidden.
    """
    text = ast.unparse(expression)
    every = names_secret(text) or names_secret(about)
    if every or '"' in text or "'" in text:
        text = ast.unparse(_Hide(every=every).visit(deepcopy(expression)))
    text = " ".join(text.split())
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
