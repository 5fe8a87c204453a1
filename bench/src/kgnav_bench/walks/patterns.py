"""Patterns of questions: which hops lead from the topics to the answers, and the plan that finds all answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgnav_bench.walks.sharegpt import PathHop, Shape


@dataclass(frozen=True, slots=True)
class Form:
    """The numbers of hops from each topic to where their paths meet, and from there to the answers."""

    branches: tuple[int, ...]
    tail: int = 0


FORMS: Mapping[Shape, Form] = {
    Shape.CHAIN_2: Form((2,)),
    Shape.CHAIN_3: Form((3,)),
    Shape.CHAIN_4: Form((4,)),
    Shape.CHAIN_5: Form((5,)),
    Shape.INTERSECTION: Form((1, 1)),
    Shape.INTERSECTION_HOP: Form((1, 1), 1),
    Shape.HOP_INTERSECTION: Form((2, 1)),
}
"""The shapes of walks. A conjunction's second topic is one hop away from where the paths meet."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A sampled path, split up by its shape."""

    branches: tuple[tuple[PathHop, ...], ...]
    tail: tuple[PathHop, ...]

    @property
    def topics(self) -> tuple[str, ...]:
        """The ids of the topic entities."""
        return tuple(branch[0].start for branch in self.branches)

    @property
    def key(self) -> str:
        """The topics and relations, whatever the order of branches. Walks with the same key ask the same question."""
        branches = sorted(
            json.dumps([branch[0].start, *((hop.relation, hop.direction) for hop in branch)])
            for branch in self.branches
        )
        return json.dumps([branches, [(hop.relation, hop.direction) for hop in self.tail]])


def pattern(shape: Shape, path: Sequence[PathHop]) -> Pattern:
    """The pattern of a path.

    Raises:
        ValueError: the shape has no pattern, or another number of hops.
    """
    form = FORMS.get(shape)
    if form is None or len(path) != sum(form.branches) + form.tail:
        raise ValueError(f"a path of {len(path)} hops is not of shape {shape.value}")
    branches: list[tuple[PathHop, ...]] = []
    place = 0
    for length in form.branches:
        branches.append(tuple(path[place : place + length]))
        place += length
    return Pattern(tuple(branches), tuple(path[place:]))


def plan(found: Pattern) -> str:
    """The plan in Cypher that finds the ids of all answers: distinct ends, with no hop back to a topic."""
    topics = f"[{', '.join(map(_text, found.topics))}]"
    first, *others = found.branches
    clauses = [_hops(first, "a", topics, start=first[0].start)]
    meeting = f"a{len(first)}"
    for (hop,) in others:
        clauses.append(
            f"MATCH (s){_edge(hop)}({meeting}) WHERE elementId(s) = {_text(hop.start)}\nWITH DISTINCT {meeting}"
        )
    clauses += [_hops(found.tail, "b", topics, node=meeting)] if found.tail else []
    last = f"b{len(found.tail)}" if found.tail else meeting
    return "\n".join((*clauses, f"RETURN DISTINCT elementId({last})"))


def _hops(hops: Sequence[PathHop], prefix: str, topics: str, *, start: str = "", node: str = "") -> str:
    """A clause for each hop, with distinct nodes between them."""
    clauses: list[str] = []
    here = node or f"{prefix}0"
    for number, hop in enumerate(hops, 1):
        there = f"{prefix}{number}"
        conditions = [f"elementId({here}) = {_text(start)}"] if number == 1 and start else []
        conditions.append(f"NOT elementId({there}) IN {topics}")
        clauses.append(f"MATCH ({here}){_edge(hop)}({there}) WHERE {' AND '.join(conditions)}\nWITH DISTINCT {there}")
        here = there
    return "\n".join(clauses)


def _edge(hop: PathHop) -> str:
    relation = "`" + hop.relation.replace("`", "``") + "`"
    return f"-[:{relation}]->" if hop.direction == "outgoing" else f"<-[:{relation}]-"


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
