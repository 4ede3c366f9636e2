"""What the words of a state mean: still waiting, gone well, gone wrong, over."""

from __future__ import annotations

import ast
import re

from dexnb.lint.facts.bindings import dotted


def words(text: str) -> frozenset[str]:
    """Give the words of a text as a set."""
    return frozenset(text.split())


PENDING = words("""
    accepted active building creating executing initializing pending pend
    processing progress provisioning queued running scheduled started starting submitted
    updating waiting working
""")
SUCCESS = words("""
    available complete completed done finished ok passed ready success successful successfully
    succeeded succeeds
""")
FAILURE = words("""
    abort aborted broken canceled cancelled crashed dead denied deny died error errored errors
    exception expired fail failed failing fails failure faulted invalid killed lost rejected
    stopped terminated timedout timeout
""")
OVER = words("""
    closed complete completed concluded done end ended final finished over ready settled
    terminal
""")
"""As a property, `job.done`, these hold whichever way it went."""

GOOD = frozenset({"ok", "passed", "success", "successful", "succeeded"})
"""As a property, these hold only where it went well."""

REPLIES = frozenset({"status_code", "ok", "is_error", "is_success", "is_server_error"})
"""Properties of an HTTP reply, which speak of the call and not of the state it asked for."""

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def split(text: str) -> frozenset[str]:
    """Take a name or a text apart: `IN_PROGRESS`, `NotReady` and `not ready` alike."""
    return frozenset(part.lower() for part in _PARTS.findall(text))


def words_in(expression: ast.AST) -> frozenset[str]:
    """Give the words of all names and texts in an expression."""
    found: set[str] = set()
    for node in ast.walk(expression):
        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name):
                found |= split(name)
            case ast.Constant(value=str(text)):
                found |= split(text)
            case _:
                pass
    return frozenset(found)


def is_not_ready(name: str) -> bool:
    """Tell the name of an exception that says that something is not over yet."""
    parts = split(name)
    if "not" in parts and parts & (SUCCESS | OVER):
        return True
    return bool(parts & (PENDING | {"still", "again", "unfinished", "incomplete", "busy"}))


def speaks_of_reply(test: ast.AST) -> bool:
    """Tell a test of an HTTP reply."""
    names = {each.attr for each in ast.walk(test) if isinstance(each, ast.Attribute)}
    names |= {dotted(each) for each in ast.walk(test) if isinstance(each, ast.Name)}
    return bool(names & REPLIES)
