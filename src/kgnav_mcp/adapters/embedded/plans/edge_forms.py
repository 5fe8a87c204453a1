"""Expands one edge of a pattern to its union-free forms: single edges to join, or a path to search.

An edge in either direction and a trail of several lengths have several forms.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from kgnav_mcp.adapters.embedded.plans.names import NameResolver
from kgnav_mcp.adapters.embedded.plans.statement import Scope, unsupported
from kgnav_mcp.plan import EdgePattern, PathKind, PathLength

MOST_FORMS = 40
_MAX_HOPS = 6


@dataclass(frozen=True, slots=True)
class Step:
    """One edge to join, from a node to a node. `edge` is None for a trail of length 0, where both are the same node."""

    edge: str | None
    source: str
    target: str
    relations: tuple[int, ...] = ()
    loops: bool = True
    """Whether the edge may lead from a node to itself."""
    path: EdgePattern | None = None
    """The pattern of the path, if the step is a path to search."""

    def belongs(self, edge: EdgePattern) -> bool:
        """Whether the step is this edge of the pattern or an edge of its path."""
        return self.edge == edge.variable or (self.edge or "").startswith(f"{edge.variable}\0e")


def edge_forms(words: NameResolver, edge: EdgePattern, scope: Scope, *, valued: bool) -> Iterator[list[Step]]:
    """Yields the forms of one edge of a pattern. `valued`: the path itself is used, not only its existence.

    Raises:
        Unsupported: the path's variable is already bound.
    """
    relations = tuple(words.relations(edge))
    if edge.path is None:
        yield [Step(edge.variable, edge.source, edge.target, relations)]
        if edge.either:
            yield [Step(edge.variable, edge.target, edge.source, relations, loops=False)]
        return
    if edge.variable in scope:
        raise unsupported("a path that stands twice")
    shortest, longest = edge.path.shortest, edge.path.longest
    if valued or longest is None or not _is_short(edge.path, either=edge.either):
        yield [Step(edge.variable, edge.source, edge.target, relations, path=edge)]
        return
    for length in range(shortest, longest + 1):
        if not length:
            yield [Step(None, edge.source, edge.target)]
            continue
        names = [edge.source, *(f"{edge.variable}\0{place}" for place in range(1, length)), edge.target]
        steps = [
            Step(f"{edge.variable}\0e{place}", names[place], names[place + 1], relations) for place in range(length)
        ]
        backwards = [replace(step, source=step.target, target=step.source, loops=False) for step in steps]
        if not edge.either:
            yield steps
            continue
        for sides in product((0, 1), repeat=length):
            yield [(steps, backwards)[side][place] for place, side in enumerate(sides)]


def _is_short(path: PathLength, *, either: bool) -> bool:
    """Whether a path has so few forms that all of them can be joined."""
    longest = path.longest
    if path.kind is not PathKind.TRAILS or longest is None or longest > _MAX_HOPS:
        return False
    return not either or 2 ** (longest + 1) <= MOST_FORMS
