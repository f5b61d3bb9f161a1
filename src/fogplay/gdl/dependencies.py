"""Which relations depend on which: the order in which they are computed, and what each depends on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fogplay.gdl.rules import DISTINCT, Relation, Rule

TRUE: Relation = ("true", 1)
DOES: Relation = ("does", 2)


class Dependencies:
    """The relations of a set of rules in groups: a group depends on itself and on earlier groups only."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.heads: dict[Relation, list[Rule]] = {}
        for rule in rules:
            self.heads.setdefault(rule.relation, []).append(rule)
        self.uses: dict[Relation, dict[Relation, bool]] = {}  # and whether one of the uses is under not
        for relation, own in self.heads.items():
            used = self.uses[relation] = {}
            for rule in own:
                for literal in rule.body:
                    if literal.relation != DISTINCT:
                        used[literal.relation] = used.get(literal.relation, False) or not literal.positive
        self.groups = components({relation: list(used) for relation, used in self.uses.items()})
        self.group_of = {relation: number for number, group in enumerate(self.groups) for relation in group}
        self.state = self.depending_on([TRUE])
        self.moves = self.depending_on([DOES])

    def depending_on(self, given: Iterable[Relation]) -> frozenset[Relation]:
        """All relations that depend on some, those themselves included."""
        users: dict[Relation, list[Relation]] = {}
        for relation, used in self.uses.items():
            for each in used:
                users.setdefault(each, []).append(relation)
        todo = [*given]
        found = {*todo}
        while todo:
            for user in users.get(todo.pop(), ()):
                if user not in found:
                    found.add(user)
                    todo.append(user)
        return frozenset(found)

    def needed_for(self, wanted: Iterable[Relation]) -> set[Relation]:
        """The relations that some depend on, those themselves included."""
        found, todo = set(wanted), list(wanted)
        while todo:
            for each in self.uses.get(todo.pop(), ()):
                if each not in found:
                    found.add(each)
                    todo.append(each)
        return found

    def is_recursive(self, relation: Relation) -> bool:
        group = self.groups[self.group_of[relation]]
        return len(group) > 1 or relation in self.uses[relation]


def components(graph: dict[Relation, list[Relation]]) -> list[tuple[Relation, ...]]:
    """The strongly connected components of a graph, each after those it points to (Tarjan, with a stack of its own)."""
    index: dict[Relation, int] = {}
    low: dict[Relation, int] = {}
    path: list[Relation] = []
    on_path: set[Relation] = set()
    found: list[tuple[Relation, ...]] = []
    for root, pointed in graph.items():
        if root in index:
            continue
        work = [(root, iter(pointed))]
        index[root] = low[root] = len(index)
        path.append(root)
        on_path.add(root)
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in graph:
                    continue
                if other not in index:
                    index[other] = low[other] = len(index)
                    path.append(other)
                    on_path.add(other)
                    work.append((other, iter(graph[other])))
                    break
                if other in on_path:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    group = []
                    while True:
                        last = path.pop()
                        on_path.discard(last)
                        group.append(last)
                        if last == node:
                            break
                    found.append(tuple(reversed(group)))
    return found
