"""Notes on the named nodes of a plan without an answer: their missing edges, and other nodes with the same name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from kgnav_mcp.clipping import clipped
from kgnav_mcp.model import Direction, Entity, RelationFacts
from kgnav_mcp.navigation.plans.lookups import Lookups
from kgnav_mcp.navigation.relation_lists import hops_of
from kgnav_mcp.plan import NAME, Compare, Comparison, Constant, EdgePattern, Match, Plan, Property
from kgnav_mcp.plan.walking import conjuncts, id_condition
from kgnav_mcp.port import FarEndKind, GraphAdapter

_NODES = 3
"""Named nodes of a plan that are looked at."""
_SHOWN = 5
"""Entities of one name, and relations of theirs, that are shown."""
_RELATIONS = 1_000
"""Relations of named nodes that are read."""
_TEXT = 100
"""Characters of a name that are shown."""


@dataclass(frozen=True, slots=True)
class _Named:
    """A node of a pattern that is selected by ids or by a name."""

    variable: str
    match: Match
    ids: tuple[str, ...] = ()
    name: str | None = None


async def about_named_nodes(graph: GraphAdapter, lookups: Lookups, plan: Plan) -> str:
    """The named nodes without the edges that the plan needs, and other nodes with a similar name."""
    found = [await _about(graph, lookups, named) for named in islice(_named(plan), _NODES)]
    return " ".join(dict.fromkeys(filter(None, found)))


def _named(plan: Plan) -> Iterator[_Named]:
    for match in (match for pipeline in plan.pipelines for match in pipeline.matches if not match.optional):
        for condition in conjuncts(match.where):
            ids = id_condition(condition)
            if ids is not None and 0 < len(ids[1]) <= _SHOWN:
                yield _Named(ids[0], match, ids=ids[1])
            match condition:
                case Compare(Property(variable, name), Comparison.EQUAL, Constant(str() as text)) if name == NAME:
                    yield _Named(variable, match, name=text)
                case _:
                    pass


async def _about(graph: GraphAdapter, lookups: Lookups, named: _Named) -> str:
    entities, others = await _same_names(lookups, named)
    edges = [edge for edge in named.match.edges if edge.relations and named.variable in (edge.source, edge.target)]
    missing_edges = (
        await _missing_edges(graph, entities, [_wanted(edge, named.variable) for edge in edges]) if entities else ""
    )
    if not entities or not others or (edges and not missing_edges):
        return missing_edges
    alike = ", ".join(dict.fromkeys(one.id for one in others[:_SHOWN]))
    return f"{missing_edges} In another letter case: {clipped(alike, _TEXT)}.".lstrip()


async def _missing_edges(
    graph: GraphAdapter, entities: Sequence[Entity], wanted: Sequence[tuple[Sequence[str], Direction | None]]
) -> str:
    """The sentence about the edges that entities lack, with those that they have; empty if they lack none."""
    if not wanted:
        return ""
    ids = [one.id for one in entities]
    page = await graph.relations(ids, None, hops=hops_of(graph), far_ends=FarEndKind.ENTITY, limit=_RELATIONS)
    missing = [_edge_text(*each) for each in wanted if not _has(page.items, *each)]
    if not missing:
        return ""
    largest = sorted(page.items, key=lambda facts: -facts.count.value)
    there = ", ".join(f"{_with_name(facts)} ({facts.count})" for facts in largest[:_SHOWN])
    more = f" and {len(largest) - _SHOWN:,} more" if len(largest) > _SHOWN else ""
    who = clipped(", ".join(one.label or one.id for one in entities), _TEXT)
    return f"{who} has no {' and no '.join(missing)}, {f'but {there}{more}' if there else 'nor any other edge'}."


async def _same_names(lookups: Lookups, named: _Named) -> tuple[Sequence[Entity], Sequence[Entity]]:
    """The entities of a named node, and others whose names differ from theirs in letter case only."""
    by_id = [*(await lookups.by_id(named.ids)).values()]
    names = [one.label for one in by_id if one.label is not None] if named.name is None else [named.name]
    pages = await lookups.by_name(list(dict.fromkeys(names)))
    called = [(one.entity, one.name == name) for name, page in pages.items() for one in page.items]
    entities = by_id if named.name is None else [entity for entity, exactly in called if exactly][:_SHOWN]
    known = {one.id for one in entities}
    return entities, [entity for entity, exactly in called if not exactly and entity.id not in known]


def _with_name(facts: RelationFacts) -> str:
    """A relation with its direction, and with its name unless its id has it."""
    return f"{facts.direction} {facts.relation.id} {clipped(facts.relation.name, _TEXT)}".rstrip()


def _wanted(edge: EdgePattern, variable: str) -> tuple[Sequence[str], Direction | None]:
    """The relations of an edge, and the direction in which they are asked of a node; None for either."""
    if edge.either or edge.source == edge.target:
        return edge.relations, None
    return edge.relations, Direction.OUTGOING if edge.source == variable else Direction.INCOMING


def _has(facts: Iterable[RelationFacts], relations: Sequence[str], side: Direction | None) -> bool:
    return any(one.relation.id in relations and side in {None, one.direction} for one in facts)


def _edge_text(relations: Sequence[str], side: Direction | None) -> str:
    return f"{side} {'|'.join(relations)}" if side is not None else "|".join(relations)
