"""The evidence for an answer: a path of the trail from a topic entity to it, looked up again in the store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, compress, product

from kgnav_mcp.concurrency import gathered
from kgnav_mcp.model import Certainty, Direction, Entity, Evidence, Link, Page, Stop, Trail, Triple, Verdict
from kgnav_mcp.navigation.pages import pages_of_whole_list, refuse_partial
from kgnav_mcp.navigation.shown_graph import NodeKey, WalkedGraph, WalkedPath, node_key
from kgnav_mcp.port import FarEndKind, GraphAdapter

_PAGE = 5_000
_refuse_partial = partial(
    refuse_partial,
    message="the store does not return all triples of an entity of this trail, so that a missing one may be there",
    next_step="Check fewer answers at once, or try again.",
)


@dataclass(slots=True)
class _StoreFacts:
    """Facts read from the store so far: whether triples are present, and whether entities are hubs."""

    bare: bool = False
    """Whether triples without qualifiers may have some in the store, because the trail did not read qualifiers."""
    present: dict[Triple, bool] = field(default_factory=dict[Triple, bool])
    hubs: dict[NodeKey, bool] = field(default_factory=dict[NodeKey, bool])

    def missing(self, triple: Triple) -> bool:
        return self.present.get(triple) is False

    def may_pass(self, node: NodeKey) -> bool:
        return not self.hubs.get(node, False)


async def check_answers(
    graph: GraphAdapter, trail: Trail, answers: Sequence[str], *, hub_rows: int, bare: bool = False
) -> Sequence[Evidence]:
    """The evidence of a trail for each answer: an id, a name or a value.

    The evidence is the shortest path that avoids hubs (more than `hub_rows` rows in one direction). Each of its triples
    is looked up in the store. If one is missing, the next path is tried, so the verdict is CHANGED only if no path of
    the trail still exists. All answers are looked up together. `bare`: triples without qualifiers were read without
    them, as with the papers' formats.
    """
    walked = WalkedGraph.of(trail)
    keys_by_answer = {answer: _nodes_meant(walked, answer) for answer in dict.fromkeys(answers)}
    topics = [entity.id for entity in trail.topics]
    facts = _StoreFacts(bare)
    while paths := [
        path
        for keys in keys_by_answer.values()
        if (path := _best_path(walked, topics, keys, facts)) is not None and _has_unknowns(path, facts)
    ]:
        await _look_up(graph, paths, facts, hub_rows)
    return [_evidence(walked, topics, answer, keys_by_answer[answer], facts) for answer in answers]


def _nodes_meant(walked: WalkedGraph, answer: str) -> Sequence[NodeKey]:
    """The nodes that an answer may mean: the one with this id, or those with this name or value in any letter case."""
    if answer in walked.nodes:
        return (answer,)
    text = answer.strip().casefold()
    return [
        key
        for key, node in walked.nodes.items()
        if (((node.label or "") if isinstance(node, Entity) else node.text).casefold() == text and text)
    ]


def _best_path(
    walked: WalkedGraph, topics: Sequence[str], keys: Collection[NodeKey], facts: _StoreFacts
) -> WalkedPath | None:
    """The best path by the facts so far: it avoids hubs if possible, and never has missing triples."""
    for through in (facts.may_pass, _any_node):
        paths = [
            path
            for key in keys
            if (path := walked.shortest_path(topics, key, through=through, along=lambda one: not facts.missing(one)))
            is not None
        ]
        if paths:
            return min(paths, key=lambda path: len(path.triples))
    return None


def _any_node(_: NodeKey) -> bool:
    return True


def _has_unknowns(path: WalkedPath, facts: _StoreFacts) -> bool:
    return any(triple not in facts.present for triple in path.triples) or any(
        isinstance(node, str) and node not in facts.hubs for node in path.between
    )


def _evidence(
    walked: WalkedGraph, topics: Sequence[str], answer: str, keys: Sequence[NodeKey], facts: _StoreFacts
) -> Evidence:
    nodes = tuple(walked.nodes[key] for key in keys)
    if not keys:
        return Evidence(answer, Verdict.UNGROUNDED)
    path = _best_path(walked, topics, keys, facts)
    if path is not None:
        hubs = tuple(
            node for key in path.between if facts.hubs.get(key) and isinstance(node := walked.nodes[key], Entity)
        )
        verdict = Verdict.HUB_ONLY if hubs else Verdict.CONNECTED
        return Evidence(answer, verdict, (walked.nodes[path.nodes[-1]],), _labelled(walked, path.triples), hubs=hubs)
    for key in keys:
        changed_path = walked.shortest_path(topics, key)
        if changed_path is not None:
            missing = _labelled(walked, filter(facts.missing, changed_path.triples))
            return Evidence(
                answer, Verdict.CHANGED, (walked.nodes[key],), _labelled(walked, changed_path.triples), missing
            )
    return Evidence(answer, Verdict.UNCONNECTED, nodes)


def _labelled(walked: WalkedGraph, triples: Iterable[Triple]) -> tuple[Triple, ...]:
    """Triples whose entities have the labels that the trail has shown."""

    def entity(end: Entity) -> Entity:
        node = walked.nodes[end.id]
        return node if isinstance(node, Entity) else end

    return tuple(
        Triple(
            entity(triple.head),
            triple.relation,
            entity(triple.tail) if isinstance(triple.tail, Entity) else triple.tail,
            triple.qualifiers,
            entity(triple.via) if triple.via is not None else None,
        )
        for triple in triples
    )


async def _look_up(graph: GraphAdapter, paths: Iterable[WalkedPath], facts: _StoreFacts, hub_rows: int) -> None:
    """Look up which triples of some paths are present, and which of their inner nodes are hubs."""
    paths = list(paths)
    triples = dict.fromkeys(triple for path in paths for triple in path.triples if triple not in facts.present)
    inner_nodes = dict.fromkeys(
        node for path in paths for node in path.between if isinstance(node, str) and node not in facts.hubs
    )
    present, hubs = await gathered(
        present_triples(graph, list(triples), bare=facts.bare), _hubs(graph, list(inner_nodes), hub_rows)
    )
    facts.present |= {triple: triple in present for triple in triples}
    facts.hubs |= {node: node in hubs for node in inner_nodes}


async def _hubs(graph: GraphAdapter, ids: Sequence[str], rows: int) -> Collection[str]:
    """The entities that have more than this many rows in one direction.

    Raises:
        StoreTimeout, Unsupported: the store cannot tell.
    """
    if not ids:
        return ()
    page = await graph.relations(ids, None, limit=_PAGE)
    sizes: dict[tuple[str, Direction], int] = defaultdict(int)
    for facts in page.items:
        for entity, count in facts.per_entity.items():
            sizes[entity, facts.direction] += count
    hubs = {entity for (entity, _), size in sizes.items() if size > rows}
    if page.stop is Stop.COMPLETE and all(facts.count.certainty is Certainty.EXACT for facts in page.items):
        return hubs
    others = [id_ for id_ in ids if id_ not in hubs]
    return hubs | set(compress(others, await gathered(*(_is_hub(graph, id_, rows) for id_ in others))))


async def _is_hub(graph: GraphAdapter, entity: str, rows: int) -> bool:
    """Whether an entity has more than this many rows in one direction, where its relations were not all counted."""
    for direction in Direction:
        page = await graph.neighbours([entity], direction, limit=rows, all_or_none=True)
        if page.stop is Stop.LIMIT:
            return True
        _refuse_partial(page.stop)
    return False


async def present_triples(graph: GraphAdapter, triples: Sequence[Triple], *, bare: bool = False) -> Collection[Triple]:
    """The triples that the store has now, with exactly these qualifiers.

    With `bare`, a triple without qualifiers matches triples with any qualifiers.

    Raises:
        StoreTimeout: the store did not answer in time.
        Unsupported: the store did not return all triples among which these are searched.
    """
    direct = [triple for triple in triples if triple.via is None]
    edges = [(triple.head.id, triple.tail.id) for triple in direct if isinstance(triple.tail, Entity)]
    values = [triple for triple in direct if not isinstance(triple.tail, Entity)]
    flattened = [triple for triple in triples if triple.via is not None]
    parts = await gathered(_edges(graph, edges), _values(graph, values), _flattened(graph, flattened))
    there = [*chain(*parts)]
    keys = set(map(_key, there))
    if bare:
        keys |= {_key(replace(triple, qualifiers=())) for triple in there}
    return {triple for triple in triples if _key(triple) in keys}


def _key(triple: Triple) -> object:
    """The identity of a triple: its ends, its relation, and its mediator or else its qualifiers."""
    qualifiers = frozenset((qualifier.relation.id, node_key(qualifier.value)) for qualifier in triple.qualifiers)
    return node_key(triple.head), triple.relation.id, node_key(triple.tail), triple.via.id if triple.via else qualifiers


async def _edges(graph: GraphAdapter, ends: Sequence[tuple[str, str]]) -> list[Triple]:
    """All edges between these pairs of head and tail, by index look-ups: a hub is not read for a single edge."""
    if not ends:
        return []
    heads, tails = (list(dict.fromkeys(ids)) for ids in zip(*ends, strict=True))

    def read(after: str | None) -> Awaitable[Page[Triple]]:
        return graph.edges(heads, tails, limit=_PAGE, after=after)

    return [edge async for page in pages_of_whole_list(read, _refuse_partial) for edge in page.items]


async def _values(graph: GraphAdapter, triples: Sequence[Triple]) -> list[Triple]:
    """All triples with literals that the heads of some triples have, by the relations of these triples."""
    if not triples:
        return []
    heads = list(dict.fromkeys(triple.head.id for triple in triples))
    paths = list(dict.fromkeys((triple.relation.id,) for triple in triples))

    def read(after: str | None) -> Awaitable[Page[Link]]:
        out, kind = Direction.OUTGOING, FarEndKind.LITERAL
        return graph.neighbours(heads, out, relation_paths=paths, far_end_kind=kind, limit=_PAGE, after=after)

    return [link.triple async for page in pages_of_whole_list(read, _refuse_partial) for link in page.items]


async def _flattened(graph: GraphAdapter, triples: Sequence[Triple]) -> list[Triple]:
    """Of triples through mediators, those whose two hops are both present."""
    hops = [
        hop
        for triple in triples
        if triple.via is not None
        for hop in (
            (triple.head.id, triple.via.id),
            *([(triple.via.id, triple.tail.id)] if isinstance(triple.tail, Entity) else []),
        )
    ]
    by_ends = defaultdict[tuple[str, str], set[str]](set)
    for edge in await _edges(graph, hops):
        by_ends[edge.head.id, edge.tail.id if isinstance(edge.tail, Entity) else ""].add(edge.relation.id)

    def is_present(triple: Triple) -> bool:
        assert triple.via is not None  # noqa: S101 - of others nothing is asked
        near = by_ends[triple.head.id, triple.via.id]
        far = by_ends[triple.via.id, triple.tail.id] if isinstance(triple.tail, Entity) else set[str]()
        return triple.relation.id in {f"{first}.{second}" for first, second in product(near, far)}

    return list(filter(is_present, triples))
