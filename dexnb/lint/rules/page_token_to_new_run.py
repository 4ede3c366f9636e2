"""DX106 page-token-to-new-run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dexnb.lint.facts.goes import Going, goings_of, timers_of
from dexnb.lint.facts.method import MethodFacts
from dexnb.lint.facts.step import StepSubject
from dexnb.lint.facts.words import words, words_in
from dexnb.lint.rule import Remark, rule

_TOKENS = words("""
    after continuation cursor from last marker next offset page position since skip token
""")


@rule("DX106", "page-token-to-new-run", "warning")
def page_token_to_new_run(step: StepSubject) -> Iterator[Remark]:
    """A Step goes to itself with the token of the next page.

    What:
        A page is read, and its token is the input of the same Step's next execution: with
        `go_to`, with a `StepMovement`, in either arm of a conditional expression.

    Why:
        Each page costs a Step execution with its history, its queueing and its own retry budget;
        ten thousand pages make a run that nobody can read.

    Instead:
        Loop over the pages inside one Step, and keep the token as its checkpoint::

            token = context.get_last_heartbeat_value(str) or input
            while token:
                page = await self._orders.page(token)
                token = page.next_token
                await context.heartbeat(token)
    """
    method = step.execute
    if method is None or timers_of(step):
        return
    for going in goings_of(method):
        if step.step.step_type in going.targets and _is_token(going, method):
            yield Remark(
                going.spot.node,
                going.spot.frame,
                f"{step.step.step_type} goes to itself for the next page: each page is a Step "
                "execution of its own",
                "loop over the pages inside the Step, with the token as its checkpoint",
            )


def _is_token(going: Going, method: MethodFacts) -> bool:
    """Tell whether the input comes from what foreign code answered, and is a place in a list."""
    if going.input is None or not method.from_foreign(going.input, going.spot.frame):
        return False
    sources = method.sources(going.input, going.spot.frame)
    spoken = {word for text in sources.texts for word in words_in(ast.Name(text))}
    return bool((words_in(going.input) | spoken) & _TOKENS)
