"""All nodes of a piece of code, found once and kept with it."""

from __future__ import annotations

import ast

from dexnb.graph.paths import inside

_KEPT = "_dexnb_nodes"
_WITHIN = "_dexnb_within"


def nodes_of(tree: ast.AST) -> tuple[ast.AST, ...]:
    """Give a node and all below it, but nothing of functions and classes defined inside."""
    found: tuple[ast.AST, ...] | None = getattr(tree, _KEPT, None)
    if found is None:
        body = getattr(tree, "body", None)
        is_function = isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef)
        parts = body if is_function and isinstance(body, list) else [tree]
        found = tuple(node for part in parts for node in inside(part))
        setattr(tree, _KEPT, found)
    return found


def within(node: ast.AST) -> frozenset[ast.AST]:
    """Give a node and all below it as a set, those of functions inside too."""
    found: frozenset[ast.AST] | None = getattr(node, _WITHIN, None)
    if found is None:
        found = frozenset(ast.walk(node))
        setattr(node, _WITHIN, found)
    return found
