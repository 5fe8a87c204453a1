"""Default verbs, on top of other verbs or a scan of the whole graph: correct for every store, fast for small graphs."""

from __future__ import annotations

import asyncio
import math
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import compress, islice, product
from typing import TypeVar

from kgnav_mcp.clipping import echoed
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.errors import InvalidArgument, UnknownName, Unsupported
from kgnav_mcp.model import (
    NODE_VALUES,
    AnchoredPage,
    Count,
    Direction,
    EdgeFacts,
    Entity,
    LabelFacts,
    Link,
    Listing,
    Literal,
    Namesake,
    Node,
    Page,
    PropertyFacts,
    QualifierFacts,
    Relation,
    RelationFacts,
    Schema,
    Stop,
    T,
    Triple,
    ValueFacts,
    ValueMatch,
)
from kgnav_mcp.port.basic_verbs import BasicVerbs
from kgnav_mcp.port.lists import all_pages, page_of
from kgnav_mcp.port.terms import FarEndKind, ValueOwner
from kgnav_mcp.values.scalars import value_order

_ROWS = 5_000
"""Rows per page."""
_MIN_CANDIDATES = 20
"""Minimum number of candidates of `find` that are compared with a name."""


async def find_by_name(graph: BasicVerbs, name: str, *, limit: int) -> Page[Namesake]:
    """The candidates of `find` that have the name in any letter case, exact spelling first."""
    candidates = await graph.find(name, limit=max(limit, _MIN_CANDIDATES))
    have_name = [one.matched.casefold() == name.casefold() for one in candidates.items]
    namesakes = [Namesake(one.entity, one.matched) for one in compress(candidates.items, have_name)]
    namesakes.sort(key=lambda one: one.name != name)
    page = page_of(namesakes, limit)
    if candidates.stop is Stop.COMPLETE or (candidates.stop is Stop.LIMIT and not all(have_name)):
        return page
    return replace(page, total=Count.at_least(len(namesakes)), stop=Stop.first((page.stop, candidates.stop)))


async def relations(
    graph: BasicVerbs,
    ids: Sequence[str],
    direction: Direction | None,
    *,
    hops: int,
    far_end_kind: FarEndKind | None,
    examples: int,
    limit: int,
) -> AnchoredPage[RelationFacts]:
    """The relations at the entities. All rows are read and counted."""
    if hops == 2:
        raise Unsupported(
            "this store has no two-hop relations",
            next_step="Use relations of one hop: the store does not know which nodes are mediators.",
        )
    counts: dict[tuple[Direction, Relation], Counter[str]] = defaultdict(Counter)
    ends: dict[tuple[Direction, Relation], dict[Node, None]] = defaultdict(dict)
    page: AnchoredPage[Link] = AnchoredPage((), (), Count(0))
    anchors = page.anchors
    async for page in all_pages(
        lambda after: graph.neighbours(ids, direction, far_end_kind=far_end_kind, limit=_ROWS, after=after)
    ):
        anchors = {**page.anchors, **anchors}
        for link in page.items:
            key = link.direction, link.triple.relation
            counts[key][link.anchor.id] += 1
            if len(ends[key]) < examples:
                ends[key][link.far_end] = None
    ordered = sorted(counts, key=lambda key: (key[0] is Direction.INCOMING, key[1].id))
    exact = page.stop is Stop.COMPLETE

    def count(number: int) -> Count:
        return Count(number) if exact else Count.at_least(number)

    items = tuple(
        RelationFacts(
            relation,
            direction_of,
            count(counts[direction_of, relation].total()),
            (relation,),
            tuple(ends[direction_of, relation]),
            per_entity=dict(counts[direction_of, relation]),
        )
        for direction_of, relation in ordered[:limit]
    )
    positions = tuple(str(place + 1) for place in range(len(items)))
    stop = Stop.LIMIT if exact and len(ordered) > limit else page.stop
    return AnchoredPage(items, positions, count(len(ordered)), stop, page.note, anchors)


async def edges(
    graph: BasicVerbs,
    heads: Sequence[str],
    tails: Sequence[str],
    *,
    relations: Sequence[str] | None,
    limit: int,
    after: str | None,
) -> Page[Triple]:
    """The rows from the heads to the tails. All rows of the heads are read and compared."""
    tail_ids = {entity.id for entity in (await graph.describe(tails)).values()}
    relation_paths = None if relations is None else [(relation,) for relation in relations]
    items: list[Triple] = []
    positions: list[str] = []
    stop = Stop.COMPLETE

    def read(after: str | None) -> Awaitable[AnchoredPage[Link]]:
        return graph.neighbours(
            heads,
            Direction.OUTGOING,
            relation_paths=relation_paths,
            far_end_kind=FarEndKind.ENTITY,
            limit=_ROWS,
            after=after,
        )

    async for page in all_pages(read, after):
        for link, position in zip(page.items, page.positions, strict=True):
            if isinstance(link.far_end, Entity) and link.far_end.id in tail_ids:
                items.append(link.triple)
                positions.append(position)
        stop = page.stop
        if len(items) > limit:
            return Page(tuple(items[:limit]), tuple(positions[:limit]), Count.at_least(len(items)), Stop.LIMIT)
    complete = stop is Stop.COMPLETE and after is None
    return Page(tuple(items), tuple(positions), Count(len(items)) if complete else Count.at_least(len(items)), stop)


_K = TypeVar("_K")

_NODES = 1_000
"""Nodes whose rows are read together."""
_SCANNED_ROWS = 10_000
_MAX_SEARCHED = 200_000
"""Nodes and rows up to which a value is searched by reading all of them, in every call that looks for a code."""
_PARTIAL = "counts are lower bounds and names may be missing, because the store did not return all nodes and triples"


async def values(
    graph: BasicVerbs, property_name: str, owner: str | None, kind: ValueOwner, *, limit: int, after: str | None
) -> Page[ValueFacts]:
    """The distinct values of a property of nodes, or of the qualifiers of edges."""
    scan = await _scan(graph)
    nodes, rows = scan.nodes, scan.rows
    facts: list[tuple[object, Collection[str], Relation, Node]]
    if kind is ValueOwner.NODE:
        facts = [(row.head.id, nodes[row.head.id].types, row.relation, row.tail) for row in rows]
        owners: Iterable[str] = (label for node in nodes.values() for label in node.types)
    else:
        facts = [
            (number, (row.relation.id,), one.relation, one.value)
            for number, row in enumerate(rows)
            for one in row.qualifiers
        ]
        owners = (row.relation.id for row in rows)
    with scan.checked_names():
        name = find_relation("property", property_name, {relation for _, _, relation, _ in facts})
        if owner is not None and owner not in set(owners):
            raise UnknownName("label" if kind is ValueOwner.NODE else "relation", owner)
    literals: dict[str, Literal] = {}
    owners_by_value: dict[str, set[object]] = defaultdict(set)
    for one, owner_names, relation, tail in facts:
        if relation.id == name and isinstance(tail, Literal) and (owner is None or owner in owner_names):
            literals[tail.text] = tail
            owners_by_value[tail.text].add(one)
    values = [
        ValueFacts(literals[text], scan.count(len(owners_by_value[text]))) for text in sorted(literals, key=value_order)
    ]
    page = page_of(values, limit, after)
    return replace(page, total=scan.count(len(values)), stop=Stop.first((page.stop, scan.stop)))


async def find_by_values(graph: BasicVerbs, texts: Collection[str], *, limit: int) -> dict[str, list[ValueMatch]]:
    """The first nodes with a property that has exactly one of these texts as its value, for each text.

    Raises:
        Unsupported: not all nodes and triples were read, because the store did not return them or they are more than
            200,000, so that a node may look like the only one.
    """
    if not texts:
        return {}
    scan = await _scan(graph, _MAX_SEARCHED)
    if not scan.is_complete:
        raise Unsupported(
            "this store has no index of values, and not all nodes and triples were read, so that nodes with the value "
            f"{echoed(min(texts))} may be missing",
            next_step="Use an id; find_node returns candidates by name.",
        )
    matches: dict[str, list[ValueMatch]] = defaultdict(list)
    for row in scan.rows:
        tail = row.tail
        if isinstance(tail, Literal) and tail.text in texts and (tail.datatype, tail.language) == (None, None):
            matches[tail.text].append(ValueMatch(scan.nodes[row.head.id], row.relation))
    return {text: matches_of_text[:limit] for text, matches_of_text in matches.items()}


async def schema(graph: BasicVerbs, name: str | None, *, limit: int) -> Schema:
    """The schema of all rows, of the rows of one relation, or of the rows at nodes with a label."""
    scan = await _scan(graph)
    nodes, rows = scan.nodes, scan.rows
    labels = Counter(label for node in nodes.values() for label in node.types)
    if name is not None and name in labels:
        labels = Counter({name: labels[name]})
        rows = [row for row in rows if any(name in _types(end, nodes) for end in (row.head, row.tail))]
    elif name is not None:
        with scan.checked_names():
            relation = find_relation("label, relation or property", name, {row.relation for row in rows}, labels)
        labels, rows = Counter[str](), [row for row in rows if row.relation.id == relation]
    own = _properties_by_label(nodes, scan.rows)
    edges: dict[Relation, _EdgeCounts] = {}
    properties: dict[Relation, Counter[str]] = {}
    for row in rows:
        if isinstance(row.tail, Literal):
            properties.setdefault(row.relation, Counter())[row.tail.datatype or ""] += 1
        else:
            edges.setdefault(row.relation, _EdgeCounts()).add(row, nodes)
    listing = Listing.COMPLETE if scan.is_complete else Listing.SAMPLED
    edge_counts = Counter({one: counts.rows for one, counts in edges.items()})
    property_counts = Counter({one: counts.total() for one, counts in properties.items()})
    return Schema(
        entities=scan.count(len(nodes)),
        triples=scan.count(len(rows)),
        labels=tuple(
            LabelFacts(label, label, scan.count(size), own.get(label, ()), listing)
            for label, size in _largest(labels, limit)
        ),
        relations=tuple(edges[one].facts(one, scan.count, listing) for one, _ in _largest(edge_counts, limit)),
        properties=tuple(
            PropertyFacts(one, scan.count(size), tuple(kind for kind, _ in _largest(properties[one], limit) if kind))
            for one, size in _largest(property_counts, limit)
        ),
        sampled=None if scan.is_complete else _PARTIAL,
    )


async def triples_by_qualifier(graph: BasicVerbs, entity: str, *, limit: int) -> tuple[Triple, ...] | None:
    """The first rows that have the entity as a qualifier's value; None if there are none among a part of the rows."""
    described = (await graph.describe([entity])).get(entity)
    if described is None:
        return ()
    scan = await _scan(graph)
    rows = tuple(islice((row for row in scan.rows if _has_as_qualifier(row, described)), limit))
    return rows if rows or scan.is_complete else None


def _has_as_qualifier(row: Triple, entity: Entity) -> bool:
    return any(isinstance(one.value, Entity) and one.value.id == entity.id for one in row.qualifiers)


def find_relation(kind: str, name: str, relations: Iterable[Relation], others: Iterable[str] = ()) -> str:
    """The id of the relation with this name: an exact id, otherwise an id or label in any letter case.

    Raises:
        UnknownName: no relation has the name; the error has the nearest names.
    """
    candidates = sorted(relations, key=lambda one: (one.id != name, one.id))
    for one in candidates:
        if name == one.id or name.casefold() in (one.id.casefold(), one.label.casefold()):
            return one.id
    raise UnknownName(kind, name, get_close_matches(name, [*(one.id for one in candidates), *others]))


@dataclass(slots=True)
class _EdgeCounts:
    """Counts over the edges of one relation."""

    rows: int = 0
    heads: Counter[str] = field(default_factory=Counter[str])
    tails: Counter[str] = field(default_factory=Counter[str])
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    qualifiers: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])

    def add(self, row: Triple, nodes: dict[str, Entity]) -> None:
        """Count one edge."""
        self.rows += 1
        heads, tails = _types(row.head, nodes), _types(row.tail, nodes)
        self.heads.update(heads)
        self.tails.update(tails)
        self.pairs.update(product(heads, tails))
        for one in row.qualifiers:
            self.qualifiers.setdefault(one.relation.id, Counter())[_datatype(one.value)] += 1

    def facts(self, relation: Relation, as_count: Callable[[int], Count], listing: Listing) -> EdgeFacts:
        """The counts as facts of the schema. `listing` says whether the qualifiers are all."""
        heads, tails = (tuple(label for label, _ in _largest(ends)) for ends in (self.heads, self.tails))
        ends = tuple((head, tail, as_count(rows)) for (head, tail), rows in _largest(self.pairs))
        qualifiers = tuple(
            QualifierFacts(name, tuple(kind for kind, _ in _largest(kinds)))
            for name, kinds in sorted(self.qualifiers.items())
        )
        return EdgeFacts(relation, as_count(self.rows), heads, tails, qualifiers, ends, listing)


def _properties_by_label(nodes: dict[str, Entity], rows: Iterable[Triple]) -> dict[str, tuple[str, ...]]:
    """The properties with literal values of the nodes with each label, most frequent first."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        if isinstance(row.tail, Literal):
            for label in _types(row.head, nodes):
                counts[label][row.relation.id] += 1
    return {label: tuple(name for name, _ in _largest(found)) for label, found in counts.items()}


def _datatype(value: Node) -> str:
    """The datatype of a qualifier's value."""
    return (
        NODE_VALUES if isinstance(value, Entity) else value.datatype or ("langString" if value.language else "string")
    )


def _types(node: Node, nodes: dict[str, Entity]) -> tuple[str, ...]:
    return nodes[node.id].types if isinstance(node, Entity) and node.id in nodes else ()


def _largest(counts: Counter[_K], limit: int | None = None) -> list[tuple[_K, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))[:limit]


@dataclass(frozen=True, slots=True)
class _Scan:
    """All nodes of a graph by id, and all its triples; only some of them if `stop` is not COMPLETE."""

    nodes: dict[str, Entity]
    rows: list[Triple]
    stop: Stop

    @property
    def is_complete(self) -> bool:
        return self.stop is Stop.COMPLETE

    def count(self, number: int) -> Count:
        """A number of nodes or triples that were read: a lower bound if not all were."""
        return Count(number) if self.is_complete else Count.at_least(number)

    @contextmanager
    def checked_names(self) -> Generator[None]:
        """Replaces the error for a name that was not read but may exist.

        Raises:
            Unsupported: instead of UnknownName, if not all nodes and triples were read.
        """
        try:
            yield
        except UnknownName as error:
            if self.is_complete:
                raise
            raise Unsupported(
                f"the store did not return all nodes and triples, so that the {error.kind} {echoed(error.name)} may "
                "exist though it was not read",
                next_step="Try again, or use search and get_triples, which read only some entities.",
            ) from error


async def _scan(graph: BasicVerbs, limit: float = math.inf) -> _Scan:
    """Read the whole graph, or no more pages once there are more than `limit` nodes and rows."""
    nodes: dict[str, Entity] = {}
    rows: list[Triple] = []
    stops: list[Stop] = []
    async for page in all_pages(lambda after: graph.nodes(None, None, None, limit=_NODES, after=after)):
        ids = [node.id for node in page.items]
        nodes |= zip(ids, page.items, strict=True)
        limit_of_rows = limit - len(nodes) - len(rows)
        links, stop = await _outgoing(graph, ids, limit_of_rows) if ids else ([], Stop.COMPLETE)
        rows += [link.triple for link in links]
        stops.append(stop)
        if page.stop is not Stop.LIMIT or not page.positions or len(links) > limit_of_rows:
            stops.append(page.stop)
            break
    return _Scan(nodes, rows, Stop.first(stops))


async def _outgoing(graph: BasicVerbs, ids: Sequence[str], limit: float) -> tuple[list[Link], Stop]:
    """All outgoing rows of these nodes, or no more pages once there are more than `limit`; and why the list ends."""
    links: list[Link] = []
    stop = Stop.COMPLETE
    async for page in all_pages(
        lambda after: graph.neighbours(ids, Direction.OUTGOING, limit=_SCANNED_ROWS, after=after)
    ):
        links += page.items
        stop = page.stop
        if len(links) > limit:
            break
    return links, stop


_MAX = 100
_AT_ONCE = 8


async def one_by_one(names: Sequence[str], look_up: Callable[[str], Awaitable[T]]) -> dict[str, T]:
    """The result of the look-up for each name. Each name is looked up once, a few at the same time.

    Raises:
        InvalidArgument: there are more than a hundred names.
    """
    names = list(dict.fromkeys(names))
    if len(names) > _MAX:
        raise InvalidArgument(
            f"{len(names):,} of the entities are names instead of ids, starting with {echoed(names[0])}",
            next_step=f"Pass ids, as printed in answers: at most {_MAX} names are looked up in one call.",
        )
    slots = asyncio.Semaphore(_AT_ONCE)

    async def one(name: str) -> T:
        async with slots:
            return await look_up(name)

    return dict(zip(names, await gathered(*map(one, names)), strict=True))
