"""How far from the start each box stands: topological generations, once no link leads back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

Pair = tuple[str, str]


def backward(names: Sequence[str], pairs: Iterable[Pair], start: str) -> set[Pair]:
    """Give the pairs that lead back to a box on the path to it, seen from the start.

    What is left without them has no circle. Written without recursion: a chain of boxes may be
    longer than Python's stack.
    """
    targets: dict[str, list[str]] = {name: [] for name in names}
    for source, target in pairs:
        targets[source].append(target)
    found: set[Pair] = set()
    done: set[str] = set()
    for root in ([start] if start in targets else []) + list(names):
        path = [(root, iter(targets[root]))] if root not in done else []
        on_path = {root}
        while path:
            name, rest = path[-1]
            for target in rest:
                if target in on_path:
                    found.add((name, target))
                elif target not in done:
                    path.append((target, iter(targets[target])))
                    on_path.add(target)
                    break
            else:
                path.pop()
                on_path.discard(name)
                done.add(name)
    return found


def ranks(names: Sequence[str], forward: Iterable[Pair], start: str) -> dict[str, int]:
    """Give each box the length of the longest way to it.

    A box that nothing leads to stands one rank before the first that it leads to.
    """
    targets: dict[str, list[str]] = {name: [] for name in names}
    waiting = dict.fromkeys(names, 0)
    for source, target in forward:
        targets[source].append(target)
        waiting[target] += 1
    first = {name for name, count in waiting.items() if not count}
    found = _generations(targets, waiting)
    for name in names:
        after = [found[target] for target in targets[name]]
        if name in first and name != start and after:
            found[name] = min(after) - 1
    return found


def _generations(targets: Mapping[str, list[str]], waiting: dict[str, int]) -> dict[str, int]:
    """Number the topological generations; by hand, as networkx takes long to load in a script."""
    found: dict[str, int] = {}
    generation = [name for name, count in waiting.items() if not count]
    rank = 0
    while generation:
        following = []
        for name in generation:
            found[name] = rank
            for target in targets[name]:
                waiting[target] -= 1
                if not waiting[target]:
                    following.append(target)
        generation, rank = following, rank + 1
    return found
