"""The longest silence in the rounds of a poll, summed up over all that lies between two beats."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from dexnb.graph.frames import Frame
from dexnb.lint.facts.following import follow
from dexnb.lint.facts.limits import Limits, limit_around
from dexnb.lint.facts.method import MethodFacts
from dexnb.lint.facts.nodes import within
from dexnb.lint.facts.polls import Poll
from dexnb.lint.facts.spots import SHOWS, Around, CallKind
from dexnb.lint.facts.stretches import BEAT, NOTHING, NOWHERE, Span, Stretch, longest_of

_COMPREHENDS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def longest_silence(
    poll: Poll, pauses: dict[ast.AST, float], method: MethodFacts, limits: Limits
) -> Span:
    """Give the longest silence of a poll.

    Args:
        poll: It.
        pauses: Its pauses with their seconds.
        method: The method that it is of.
        limits: Reads durations of that method.
    """
    return _Weigher(poll, pauses, method, limits).round()


class _Weigher:
    """Weighs the code of a poll; a helper once, whatever it is handed."""

    def __init__(
        self, poll: Poll, pauses: dict[ast.AST, float], method: MethodFacts, limits: Limits
    ) -> None:
        self._poll = poll
        self._limits = limits
        self._known = {node: _span(pause=seconds) for node, seconds in pauses.items()}
        for spot in poll.asks:
            seconds = limits.call(spot, spot.within(poll.loop.loop)) or 0.0
            self._known[spot.node] = _span(call=seconds)
        spots = [spot for spot in method.spots.calls if poll.loop.holds(spot)]
        self._beats = {spot.node for spot in spots if spot.kind in SHOWS}
        self._followed = {spot.node: spot for spot in spots if spot.kind is CallKind.FOLLOWED}
        self._inner = {each.node for each in method.polls if each is not poll}
        self._beside = {
            each.node for spot in spots for each in spot.around if each.kind in ("task", "bound")
        }
        self._under_way: list[ast.AST] = []
        self._helpers: dict[ast.AST, Stretch] = {}

    def round(self) -> Span:
        """Weigh a round, and what lies between the last beat of one and the first of the next."""
        node, frame = self._poll.node, self._poll.frame
        ticks = [spot.node for spot in self._poll.pauses if not self._poll.loop.holds(spot)]
        start = self._sequence(self._known[each] for each in ticks if each in self._known)
        if isinstance(node, ast.While):
            start = start.then(self._parts(node.test, frame))
        return start.then(self._block(getattr(node, "body", []), frame)).longest

    def _sequence(self, spans: Iterable[Span]) -> Stretch:
        whole = NOTHING
        for span in spans:
            whole = whole.then(Stretch(through=span))
        return whole

    def _block(self, statements: Sequence[ast.stmt], frame: Frame) -> Stretch:
        whole = NOTHING
        for statement in statements:
            whole = whole.then(self._statement(statement, frame))
        return whole

    def _statement(self, node: ast.stmt, frame: Frame) -> Stretch:
        match node:
            case ast.If(test=test, body=body, orelse=orelse):
                ways = self._block(body, frame).either(self._block(orelse, frame))
                return self._parts(test, frame).then(ways)
            case ast.Match(subject=subject, cases=cases):
                ways = NOTHING
                for case in cases:
                    ways = ways.either(self._block(case.body, frame))
                return self._parts(subject, frame).then(ways)
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(node, frame)
            case ast.Try() | ast.TryStar():
                return self._try(node, frame)
            case ast.With() | ast.AsyncWith():
                return self._with(node, frame)
            case _:
                return self._plain(node, frame)

    def _plain(self, node: ast.stmt, frame: Frame) -> Stretch:
        if isinstance(node, _SCOPES):
            return NOTHING
        made = self._parts(node, frame)
        if isinstance(node, ast.Continue):
            return Stretch(again=Span())
        leaves = isinstance(node, ast.Return | ast.Raise | ast.Break)
        in_helper = frame is not self._poll.frame and isinstance(node, ast.Return)
        return made.then(NOWHERE) if leaves and not in_helper else made

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, frame: Frame) -> Stretch:
        head = node.test if isinstance(node, ast.While) else node.iter
        own = self._block(node.body, frame)
        if node in self._inner:
            return self._parts(head, frame).then(own.looped(1))
        if isinstance(node, ast.While):
            return self._parts(head, frame).then(own).looped(None)
        return self._parts(head, frame).then(own.looped(self._count(node.iter, frame)))

    def _count(self, given: ast.expr, frame: Frame) -> int | None:
        match given:
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return len(parts)
            case ast.Call(func=ast.Name(id="range"), args=[end]):
                number = self._limits.seconds(end, frame)
                return None if number is None else max(0, int(number))
            case _:
                return None

    def _try(self, node: ast.Try | ast.TryStar, frame: Frame) -> Stretch:
        body = self._block(node.body, frame)
        whole = body.then(self._block(node.orelse, frame))
        asked = [self._known[each] for each in self._below(node.body) if each in self._known]
        failed = Stretch(through=longest_of(Span(), *asked))
        for handler in node.handlers:
            whole = whole.either(failed.then(self._block(handler.body, frame)))
        return whole.then(self._block(node.finalbody, frame))

    def _below(self, statements: Sequence[ast.stmt]) -> list[ast.AST]:
        return [each for statement in statements for each in within(statement)]

    def _with(self, node: ast.With | ast.AsyncWith, frame: Frame) -> Stretch:
        whole = NOTHING
        for item in node.items:
            whole = whole.then(self._parts(item.context_expr, frame))
        body = self._block(node.body, frame)
        limit = limit_around(Around("with", node, frame), self._limits)
        return whole.then(body if limit is None else body.each(lambda way: way.bounded(limit)))

    def _parts(self, node: ast.AST, frame: Frame) -> Stretch:
        """Weigh an expression, inner calls first; what runs side by side counts once."""
        if isinstance(node, _SCOPES):
            return NOTHING
        parts = [self._parts(child, frame) for child in ast.iter_child_nodes(node)]
        whole = NOTHING
        for part in parts:
            whole = whole.either(part) if node in self._beside else whole.then(part)
        if isinstance(node, _COMPREHENDS) and not self._runs_beside(node):
            whole = whole.looped(None)
        return whole.then(self._call(node, frame)) if isinstance(node, ast.Call) else whole

    def _runs_beside(self, node: ast.AST) -> bool:
        return any(node in within(each) for each in self._beside)

    def _call(self, node: ast.Call, frame: Frame) -> Stretch:
        if node in self._beats:
            return BEAT
        if node in self._known:
            return Stretch(through=self._known[node])
        spot = self._followed.get(node)
        helper = None if spot is None else follow(spot.call, frame)
        if helper is None or helper.tree in self._under_way:
            return NOTHING
        made = self._helpers.get(helper.tree)
        if made is None:
            self._under_way.append(helper.tree)
            made = self._helpers[helper.tree] = self._block(helper.tree.body, helper)
            self._under_way.pop()
        return Stretch(made.through, made.head, made.tail, made.inside)


def _span(*, pause: float | None = None, call: float = 0.0) -> Span:
    return Span(call=call, calls=1) if pause is None else Span(pause=pause, pauses=1)
