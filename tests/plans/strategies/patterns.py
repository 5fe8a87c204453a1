"""Patterns by chance."""

from __future__ import annotations

from hypothesis import strategies as st

from kgnav_mcp.plan import UNNAMED, EdgePattern, Expression, Match, NodePattern, PathKind, PathLength, PathPattern
from tests.plans.strategies.words import Words

NODE, EDGE, PATH, LIST, VALUE = "node", "edge", "path", "list", "value"
"""What a variable stands for, when it is not null."""
Scope = dict[str, str]


def chance(draw: st.DrawFn, per_cent: int) -> bool:
    """Whether it is so, in so many of a hundred plans; not, when a plan is made simpler."""
    return draw(st.integers(0, 99)) >= 100 - per_cent


class PatternMaker:
    """Makes patterns; `scope` is what the rows have so far."""

    def __init__(self, draw: st.DrawFn, words: Words) -> None:
        self.draw, self.words = draw, words
        self.scope: Scope = {}
        self.made = 0

    def condition(self, depth: int) -> Expression:
        """Something that is true or not."""
        raise NotImplementedError

    def pick(self, *kinds: str) -> str | None:
        """One of the variables of these kinds."""
        names = [name for name, kind in self.scope.items() if kind in kinds]
        return self.draw(st.sampled_from(names)) if names else None

    def new(self, prefix: str) -> str:
        self.made += 1
        return f"{prefix}{self.made}"

    def match(self, *, optional: bool = False) -> Match:
        before = dict(self.scope)
        nodes: dict[str, NodePattern] = {}
        edges: list[EdgePattern] = []
        paths: list[PathPattern] = []
        if not (start := self.pick(NODE) if chance(self.draw, 85) else None):
            start = self.new("n")
        self.node(start, nodes)
        for _ in range(self.draw(st.sampled_from((0, 1, 1, 1, 2, 2, 3)))):
            self.edge(nodes, edges, paths)
        where = self.condition(2) if chance(self.draw, 35) else None
        if optional:
            self.scope = {**self.scope, **before}
        return Match(tuple(nodes.values()), tuple(edges), tuple(paths), where, optional, not chance(self.draw, 25))

    def node(self, name: str, nodes: dict[str, NodePattern]) -> None:
        groups: tuple[tuple[str, ...], ...] = ()
        if self.words.labels and chance(self.draw, 20):
            some = st.lists(st.sampled_from(self.words.labels), min_size=1, max_size=3, unique=True)
            groups = (tuple(self.draw(some)),)
            if chance(self.draw, 15):
                groups = (*groups, (self.draw(st.sampled_from(self.words.labels)),))
        nodes.setdefault(name, NodePattern(name, groups))
        self.scope[name] = NODE

    def edge(self, nodes: dict[str, NodePattern], edges: list[EdgePattern], paths: list[PathPattern]) -> None:
        ends = [self.draw(st.sampled_from(sorted(nodes)))]
        known = [name for name, kind in self.scope.items() if kind == NODE]
        ends.append(self.draw(st.sampled_from(known)) if chance(self.draw, 25) else self.new("n"))
        if chance(self.draw, 40):
            ends.reverse()
        for end in ends:
            self.node(end, nodes)
        fewest = 1 if self.words.hubs else 0
        relations = self.draw(st.lists(st.sampled_from(self.words.relations), min_size=fewest, max_size=2, unique=True))
        variable = self.new("r") if chance(self.draw, 80) else self.new(f"{UNNAMED}r")
        path = self.path() if self.words.paths and chance(self.draw, 30) else None
        edges.append(EdgePattern(variable, ends[0], ends[1], tuple(relations), chance(self.draw, 30), path))
        told = path is None or path.kind not in {PathKind.REACHABLE, PathKind.DISTANCE}
        if told:
            self.scope[variable] = EDGE if path is None else LIST
        if told and chance(self.draw, 20):
            name = self.new("p")
            paths.append(PathPattern(name, (ends[0], variable, ends[1])))
            self.scope[name] = PATH

    def path(self) -> PathLength:
        kind = self.draw(st.sampled_from(PathKind))
        if kind is PathKind.TRAILS:
            shortest = self.draw(st.integers(0, 2))
            return PathLength(kind, shortest, self.draw(st.integers(shortest, 3)))
        if kind is PathKind.REACHABLE:
            return PathLength(kind, self.draw(st.integers(0, 3)))
        if kind is PathKind.DISTANCE:
            shortest = self.draw(st.integers(0, 2))
            return PathLength(kind, shortest, shortest + self.draw(st.integers(0, 2)))
        return PathLength(kind, self.draw(st.integers(0, 1)), self.draw(st.sampled_from((None, 1, 2, 4))))

    def inner(self) -> Match:
        """A pattern in a condition: its variables are nobody else's."""
        outside, self.scope = self.scope, dict(self.scope)
        nodes: dict[str, NodePattern] = {}
        edges: list[EdgePattern] = []
        paths: list[PathPattern] = []
        self.node(self.pick(NODE) or self.new("n"), nodes)
        self.edge(nodes, edges, paths)
        where = self.condition(0) if chance(self.draw, 30) else None
        self.scope = outside
        return Match(tuple(nodes.values()), tuple(edges), tuple(paths), where)
