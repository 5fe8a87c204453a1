"""The proof of an answer: what of a trail ties it to a topic entity, looked up again in the store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, product

from kgnav_mcp.concurrency import gathered
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Direction, Entity, Evidence, Link, Page, Stop, T, Trail, Triple, Verdict
from kgnav_mcp.navigation.walked import NodeKey, WalkedGraph, Way, node_key
from kgnav_mcp.port import GraphAdapter, TailKind

CHECK_TOOL = "check_answer"
"""The tool that answers with this. Its calls are steps of the trail, which show the answers that are proved."""

_PAGE = 5_000


@dataclass(slots=True)
class _Known:
    """What the store was asked so far: triples that it has or lacks, and entities that are hubs or are none."""

    present: dict[Triple, bool] = field(default_factory=dict[Triple, bool])
    hubs: dict[NodeKey, bool] = field(default_factory=dict[NodeKey, bool])

    def missing(self, triple: Triple) -> bool:
        return self.present.get(triple) is False

    def may_pass(self, node: NodeKey) -> bool:
        return not self.hubs.get(node, False)


async def check_answers(
    graph: GraphAdapter, trail: Trail, answers: Sequence[str], *, hub_rows: int
) -> Sequence[Evidence]:
    """What a trail proves of each answer, an id, a name or a value. A hub has more than `hub_rows` in one direction.

    The shortest way around hubs counts; each of its triples is looked up in the store. Where one is missing, the next
    way is tried, so that the verdict is CHANGED only where no other way holds. All answers are looked up together.
    """
    walked = WalkedGraph.of(trail)
    meant = {answer: _meant(walked, answer) for answer in dict.fromkeys(answers)}
    topics = [entity.id for entity in trail.topics]
    known = _Known()
    while ways := [
        way
        for keys in meant.values()
        if (way := _best(walked, topics, keys, known)) is not None and _unasked(way, known)
    ]:
        await _ask(graph, ways, known, hub_rows)
    return [_evidence(walked, topics, answer, meant[answer], known) for answer in answers]


def _meant(walked: WalkedGraph, answer: str) -> Sequence[NodeKey]:
    """The nodes that an answer may mean: the one with this id, else those of this name or value, letter case aside."""
    if answer in walked.nodes:
        return (answer,)
    text = answer.strip().casefold()
    return [
        key
        for key, node in walked.nodes.items()
        if (((node.label or "") if isinstance(node, Entity) else node.text).casefold() == text and text)
    ]


def _best(walked: WalkedGraph, topics: Sequence[str], keys: Collection[NodeKey], known: _Known) -> Way | None:
    """The way that proves most as far as is known: around hubs, else through them; never along missing triples."""
    for through in (known.may_pass, _anywhere):
        ways = [
            way
            for key in keys
            if (way := walked.way(topics, key, through=through, along=lambda one: not known.missing(one))) is not None
        ]
        if ways:
            return min(ways, key=lambda way: len(way.triples))
    return None


def _anywhere(_: NodeKey) -> bool:
    return True


def _unasked(way: Way, known: _Known) -> bool:
    return any(one not in known.present for one in way.triples) or any(
        isinstance(node, str) and node not in known.hubs for node in way.between
    )


def _evidence(
    walked: WalkedGraph, topics: Sequence[str], answer: str, keys: Sequence[NodeKey], known: _Known
) -> Evidence:
    nodes = tuple(walked.nodes[key] for key in keys)
    if not keys:
        return Evidence(answer, Verdict.UNGROUNDED)
    way = _best(walked, topics, keys, known)
    if way is not None:
        hubs = tuple(
            node for key in way.between if known.hubs.get(key) and isinstance(node := walked.nodes[key], Entity)
        )
        verdict = Verdict.HUB_ONLY if hubs else Verdict.PROVED
        return Evidence(answer, verdict, (walked.nodes[way.nodes[-1]],), _named(walked, way.triples), hubs=hubs)
    for key in keys:
        shown = walked.way(topics, key)
        if shown is not None:
            missing = _named(walked, filter(known.missing, shown.triples))
            return Evidence(answer, Verdict.CHANGED, (walked.nodes[key],), _named(walked, shown.triples), missing)
    return Evidence(answer, Verdict.UNCONNECTED, nodes)


def _named(walked: WalkedGraph, triples: Iterable[Triple]) -> tuple[Triple, ...]:
    """Triples with what their nodes are called."""

    def entity(one: Entity) -> Entity:
        known = walked.nodes[one.id]
        return known if isinstance(known, Entity) else one

    return tuple(
        Triple(
            entity(one.head),
            one.relation,
            entity(one.tail) if isinstance(one.tail, Entity) else one.tail,
            one.qualifiers,
            entity(one.via) if one.via is not None else None,
        )
        for one in triples
    )


async def _ask(graph: GraphAdapter, ways: Iterable[Way], known: _Known, hub_rows: int) -> None:
    """Look up the triples of some ways, and which of the nodes that they pass are hubs."""
    ways = list(ways)
    triples = dict.fromkeys(one for way in ways for one in way.triples if one not in known.present)
    passed = dict.fromkeys(
        node for way in ways for node in way.between if isinstance(node, str) and node not in known.hubs
    )
    present, hubs = await gathered(present_triples(graph, list(triples)), _hubs(graph, list(passed), hub_rows))
    known.present |= {one: one in present for one in triples}
    known.hubs |= {node: node in hubs for node in passed}


async def _hubs(graph: GraphAdapter, ids: Sequence[str], rows: int) -> Collection[str]:
    """Those of some entities that have more than so many rows in one direction."""
    if not ids:
        return ()
    page = await graph.relations(ids, None, limit=_PAGE)
    sizes: dict[tuple[str, Direction], int] = defaultdict(int)
    for facts in page.items:
        for entity, count in facts.per_entity.items():
            sizes[entity, facts.direction] += count
    return {entity for (entity, _), size in sizes.items() if size > rows}


async def present_triples(graph: GraphAdapter, triples: Sequence[Triple]) -> Collection[Triple]:
    """Those of some triples that the store has now, with just these qualifiers.

    Raises:
        StoreTimeout: the store did not say so in time.
    """
    direct = [one for one in triples if one.via is None]
    edges = [(one.head.id, one.tail.id) for one in direct if isinstance(one.tail, Entity)]
    values = [one for one in direct if not isinstance(one.tail, Entity)]
    flattened = [one for one in triples if one.via is not None]
    parts = await gathered(_edges(graph, edges), _values(graph, values), _flattened(graph, flattened))
    found = set(map(_key, chain(*parts)))
    return {one for one in triples if _key(one) in found}


def _key(triple: Triple) -> object:
    """What tells a triple from others. What a mediator ties together is known by the mediator."""
    own = frozenset((one.relation.id, node_key(one.value)) for one in triple.qualifiers)
    return node_key(triple.head), triple.relation.id, node_key(triple.tail), triple.via.id if triple.via else own


async def _edges(graph: GraphAdapter, ends: Sequence[tuple[str, str]]) -> list[Triple]:
    """All edges from some nodes to others, by index seeks: a hub is not read to learn of one edge."""
    if not ends:
        return []
    heads, tails = (list(dict.fromkeys(each)) for each in zip(*ends, strict=True))
    return await _every(lambda after: graph.edges(heads, tails, limit=_PAGE, after=after))


async def _values(graph: GraphAdapter, triples: Sequence[Triple]) -> list[Triple]:
    """All values that the heads of some triples have by their relations."""
    if not triples:
        return []
    heads = list(dict.fromkeys(one.head.id for one in triples))
    paths = list(dict.fromkeys((one.relation.id,) for one in triples))

    def page(after: str | None) -> Awaitable[Page[Link]]:
        out, kind = Direction.OUTGOING, TailKind.LITERAL
        return graph.neighbours(heads, out, paths=paths, far_ends=kind, limit=_PAGE, after=after)

    return [link.triple for link in await _every(page)]


async def _flattened(graph: GraphAdapter, triples: Sequence[Triple]) -> list[Triple]:
    """Those of some triples through mediators whose two hops are there."""
    hops = [
        hop
        for one in triples
        if one.via is not None
        for hop in ((one.head.id, one.via.id), *([(one.via.id, one.tail.id)] if isinstance(one.tail, Entity) else []))
    ]
    by_ends = defaultdict[tuple[str, str], set[str]](set)
    for edge in await _edges(graph, hops):
        by_ends[edge.head.id, edge.tail.id if isinstance(edge.tail, Entity) else ""].add(edge.relation.id)

    def there(one: Triple) -> bool:
        assert one.via is not None  # noqa: S101 - of others nothing is asked
        near = by_ends[one.head.id, one.via.id]
        far = by_ends[one.via.id, one.tail.id] if isinstance(one.tail, Entity) else set[str]()
        return one.relation.id in {f"{first}.{second}" for first, second in product(near, far)}

    return list(filter(there, triples))


async def _every(read: Callable[[str | None], Awaitable[Page[T]]]) -> list[T]:
    """All items of a list, page by page."""
    items, after = list[T](), None
    while True:
        page = await read(after)
        items += page.items
        if page.stop is Stop.TIME_OUT:
            raise StoreTimeout(None, next_step="Check fewer answers at once, or try again.")
        if page.stop is Stop.COMPLETE or not page.items:
            return items
        after = page.positions[-1]
