"""Finds labels whose subclasses have nodes of their own, which the label alone does not select."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from kgnav_mcp.errors import StoreTimeout, Unsupported
from kgnav_mcp.model import Count, Direction, Entity, LabelFacts, Schema, Stop
from kgnav_mcp.port import GraphAdapter

_LEVELS = 20
"""Maximum levels of superclasses that are read."""
_SECONDS = 3.0
_EDGES = 2_000
"""Edges to superclasses that are read at each level."""
_SHOWN = 3
"""Subclasses that are named."""


async def schema_with_subclasses(graph: GraphAdapter, name: str | None, *, limit: int) -> Schema:
    """The schema of a graph, or the part around a name, with a remark on labels that have subclasses.

    Raises:
        UnknownName: the graph has nothing with that name.
    """
    schema = await graph.schema(name, limit=limit)
    remark = await subclasses_note(graph, schema)
    return replace(schema, remarks=(*schema.remarks, remark)) if remark else schema


async def subclasses_note(graph: GraphAdapter, schema: Schema) -> str:
    """The remark that some labels have subclasses with nodes of their own, with the largest as an example.

    Empty if none of the labels of the schema has, or if the store does not say in a few seconds.
    """
    labels = {facts.id: facts for facts in schema.labels}
    if len(labels) < 2 or not graph.subclass_relations:
        return ""
    try:
        async with asyncio.timeout(_SECONDS):
            parents, all_read = await _superclasses(graph, list(labels))
    except (StoreTimeout, Unsupported, TimeoutError):
        return ""
    below: dict[str, list[LabelFacts]] = defaultdict(list)
    for label, facts in labels.items():
        for superclass in _above(label, parents):
            if superclass in labels:
                below[superclass].append(facts)
    if not below:
        return ""
    largest = max(below, key=lambda label: sum(facts.count.value for facts in below[label]))
    subclasses = sorted(below[largest], key=lambda facts: (-facts.count.value, facts.id))
    more = f" and {len(subclasses) - _SHOWN:,} more" if len(subclasses) > _SHOWN else ""
    names = ", ".join(facts.id for facts in subclasses[:_SHOWN])
    number = Count(len(below)) if all_read else Count.at_least(len(below))
    kind = "label has" if len(below) == 1 else "labels have"
    return (
        f"{number.words.capitalize()} {kind} subclasses with nodes of their own, which only a label with * includes: "
        f"(x:`{largest}`*) also matches {names}{more}"
    )


async def _superclasses(graph: GraphAdapter, classes: list[str]) -> tuple[Mapping[str, set[str]], bool]:
    """The direct superclasses of classes, of these in turn, and so on; and whether all were read."""
    superclasses: dict[str, set[str]] = defaultdict(set)
    relation_paths = [(relation,) for relation in sorted(graph.subclass_relations)]
    reached, level, all_read = set(classes), classes, True
    for _ in range(_LEVELS):
        page = await graph.neighbour_ids(level, Direction.OUTGOING, relation_paths=relation_paths, limit=_EDGES)
        all_read &= page.stop is Stop.COMPLETE
        for link in page.items:
            if isinstance(link.far_end, Entity):
                superclasses[link.anchor.id].add(link.far_end.id)
        level = sorted({end for ends in superclasses.values() for end in ends} - reached)
        reached.update(level)
        if not level:
            break
    return superclasses, all_read and not level


def _above(label: str, parents: Mapping[str, set[str]]) -> set[str]:
    """All superclasses of a label, without itself."""
    superclasses: set[str] = set()
    unseen = [label]
    while unseen:
        for superclass in parents.get(unseen.pop(), ()):
            if superclass not in superclasses:
                superclasses.add(superclass)
                unseen.append(superclass)
    return superclasses - {label}
