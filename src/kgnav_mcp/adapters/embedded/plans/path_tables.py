"""Paths, and lists of nodes or edges: tables of paths in a query, and the JSON values that represent them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, cast

from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.plans.names import NameResolver
from kgnav_mcp.adapters.embedded.plans.statement import unsupported
from kgnav_mcp.adapters.embedded.plans.value_encoding import list_json, sortable
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.plan import EdgePattern
from kgnav_mcp.port.path_search import EDGES_PER_ROW, CountRequest, FoundPath, PathSearch, Search
from kgnav_mcp.values.scalars import scalar

EdgeKey = tuple[int, int, int, int]
"""Head, relation, tail, and index among parallel edges."""
LIST, PATH = "list", "path"
"""The first item of the JSON. After LIST come the members; after PATH come the list of nodes and the list of edges."""


def listed(members: Iterable[object]) -> list[object]:
    """Returns the Python form of a JSON list value."""
    return [LIST, *members]


def dumped(members: Iterable[object]) -> str:
    """Returns the JSON of a list of nodes or edges."""
    return list_json(listed(json.loads(one) if isinstance(one, str) else one for one in members))


def path(turned: str, *parts: Any) -> str | None:  # noqa: ANN401 - whatever SQLite gives
    """Returns the JSON of a path, given its nodes and lists of edges alternately; None if a part is None.

    `turned` has one character for each list of edges: 1 if the list leads backwards, otherwise 0.
    """
    if None in parts:
        return None
    nodes, edges = [int(parts[0])], list[list[int]]()
    for way, back in zip(parts[1::2], turned, strict=True):
        steps = cast("list[list[int]]", json.loads(way)[1:])
        for edge in reversed(steps) if back == "1" else steps:
            edges.append(edge)
            nodes.append(edge[2] if edge[0] == nodes[-1] else edge[0])
    return json.dumps([PATH, nodes, edges], separators=(",", ":"))


def part(name: str, stored: str | None) -> str | None:
    """Returns the nodes or the edges of a path as a list."""
    if stored is None:
        return None
    _, nodes, edges = json.loads(stored)
    return json.dumps(listed(nodes if name == "nodes" else edges), separators=(",", ":"))


def members(stored: Iterable[str | None]) -> Iterator[object]:
    """Yields the numbers of nodes and the keys of edges that paths and lists contain."""
    for each in stored:
        if each is not None:
            kind, *items = json.loads(each)
            for member in (*items[0], *items[1]) if kind == PATH else items:
                yield tuple(cast("list[int]", member)) if isinstance(member, list) else member


class SortKeys:
    """Sort keys of nodes, edges, paths and lists, with a cache."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._ids: dict[int, str] = {}
        self._unread: set[int] = set()
        """Nodes whose ids may be needed. The first id that is needed is read together with all of them."""
        self._edge_sort_keys: dict[EdgeKey, bytes] = {}

    def clear(self) -> None:
        """Clears the cache."""
        self._ids.clear()
        self._unread.clear()
        self._edge_sort_keys.clear()

    def expect(self, numbers: Iterable[int]) -> None:
        """Announces nodes whose ids may be needed, so that these are read together."""
        self._unread.update(number for number in numbers if number not in self._ids)

    def node_id(self, number: int) -> str:
        """Returns the printed id of a node."""
        if number not in self._ids:
            self._unread.add(number)
            rows = self._builder.session.all(queries.entities.NODES_BY_ID, json.dumps(sorted(self._unread)))
            self._ids.update((row[0], self._builder.prefixes.short(row[1])) for row in rows)
            self._unread.clear()
        return self._ids[number]

    def edge_sort_key(self, edge: EdgeKey) -> bytes:
        """Returns the sort key of an edge: head, relation, tail, qualifiers."""
        if edge not in self._edge_sort_keys:
            self._read_edges([edge])
        return self._edge_sort_keys[edge]

    def _read_edges(self, edges: Iterable[EdgeKey]) -> None:
        """Reads the sort keys of edges with one query."""
        unknown = [edge for edge in dict.fromkeys(edges) if edge not in self._edge_sort_keys]
        self.expect(end for s, _, o, _ in unknown for end in (s, o))
        rows = self._builder.session.all(queries.plans.EDGES_AT, json.dumps(unknown)) if unknown else ()
        for s, p, o, n, qualifiers in rows:
            ends = (self.node_id(s), self._relations[p], self.node_id(o))
            self._edge_sort_keys[s, p, o, n] = b"".join(map(sortable, ends)) + self.qualifiers_place(qualifiers)

    @cached_property
    def _relations(self) -> dict[int, str]:
        return {number: entry.relation.id for number, entry in self._builder.relation_entries.items()}

    def qualifiers_place(self, stored: str | None) -> bytes:
        """Returns the sort key of an edge's qualifiers, given as JSON."""
        if not stored:
            return b""
        short, sort_keys = self._builder.prefixes.short, list[tuple[str, int, bytes]]()
        for key, values in cast("dict[str, list[Any]]", json.loads(stored)).items():
            for value in values:
                index = -1
                if isinstance(value, dict):
                    value_key: Any = short(cast("dict[str, str]", value)["id"])
                else:
                    literal = self._builder.literal(*value)
                    value_key = scalar(literal)
                    index = index if literal.index is None else literal.index
                sort_keys.append((short(key), index, sortable(value_key)))
        return b"".join(sortable(name) + key for name, _, key in sorted(sort_keys))

    def sort_key(self, stored: str | None) -> bytes | None:
        """Returns the sort key of a path (its nodes and edges in turn) or of a list (its members)."""
        if stored is None:
            return None
        self._read_edges(cast("EdgeKey", one) for one in members([stored]) if isinstance(one, tuple))
        kind, *items = cast("list[Any]", json.loads(stored))
        if kind == LIST:
            return b"\2" + b"".join(b"\1" + self.member(one) for one in items) + b"\0"
        nodes, edges = cast("Sequence[Sequence[Any]]", items)
        steps = (self.member(edge) + self.member(node) for edge, node in zip(edges, nodes[1:], strict=True))
        return b"\3" + self.member(nodes[0]) + b"".join(b"\1" + step for step in steps) + b"\0"

    def member(self, one: Any) -> bytes:  # noqa: ANN401 - a value of JSON, or its text
        """Returns the sort key of a node or an edge."""
        if isinstance(one, str):
            return self.member(json.loads(one))
        if isinstance(one, int):
            return b"\0" + sortable(self.node_id(one))
        return b"\1" + self.edge_sort_key(tuple(cast("list[int]", one))) + b"\0"  # pyright: ignore[reportArgumentType]


MAX_ENDS = 20_000
"""Maximum number of nodes from which paths are searched."""
_MAX_HELD = 300_000
"""Edges, ends and paths in memory during a search, at most."""


def find_paths(
    words: NameResolver, edge: EdgePattern, relations: Sequence[int], ends: Iterable[tuple[int | None, int | None]]
) -> str:
    """Finds the paths between pairs of nodes. None in a pair means any node.

    Returns a JSON list of [source, target, edges].

    Raises:
        Unsupported: there are too many paths.
    """
    pairs = list(ends)
    sources, targets = ({end for pair in pairs if (end := pair[side]) is not None} for side in (0, 1))
    forward = not targets or bool(sources and len(sources) <= len(targets))
    starts, far = (sources, targets) if forward else (targets, sources)
    if edge.path is None:
        raise TypeError("an edge without a length is not a path")
    things = SortKeys(words.builder)
    search = PathSearch[int, EdgeKey](
        edge.path,
        node_order=things.node_id,
        edge_order=things.edge_sort_key,
        bound=_MAX_HELD,
        check=_check_size,
        keep_edges=False,
        either=edge.either,
        expect_nodes=things.expect,
    )
    paths = search.paths(sorted(starts), frozenset(far) if far else None, forward=forward)
    query = queries.plans.STEPS_EITHER if edge.either else None
    rows = [
        (start, end, listed(edges)) if forward else (end, start, listed(edges))
        for start, edges, end in _run_search(words, search, paths, query, relations)
    ]
    if sources and targets:
        wanted_pairs = set(pairs)
        rows = [row for row in rows if row[:2] in wanted_pairs]
    return json.dumps(rows, separators=(",", ":"))


def _run_search(
    words: NameResolver,
    search: PathSearch[int, EdgeKey],
    paths: Search[int, EdgeKey],
    either: str | None,
    relations: Sequence[int],
) -> list[FoundPath[int, EdgeKey]]:
    """Runs a search, reading the edges that it needs."""
    session, own = words.builder.session, json.dumps(list(relations))
    count: int | None = None
    while True:
        session.check()
        try:
            request = paths.send(count)
        except StopIteration as done:
            return done.value
        count = None
        if isinstance(request, CountRequest):
            count = _count_edges(words, request.nodes, None if either else request.incoming, relations)
            continue
        query = either or (queries.plans.STEPS_BACK if request.incoming else queries.plans.STEPS_ON)
        steps = session.all(query, json.dumps(request.nodes), own)
        search.add_edges(request, ((near, (s, p, o, n), far) for near, s, p, o, n, far in steps))


def _count_edges(words: NameResolver, nodes: Sequence[int], incoming: bool | None, relations: Sequence[int]) -> int:
    """Returns the number of nodes, and of edges of the hubs among them. `incoming` None: in both directions."""
    directions = [0, 1] if incoming is None else [int(incoming)]
    numbers = (json.dumps(values) for values in (nodes, directions, list(relations)))
    row = words.builder.session.one(queries.plans.EDGES_OF_FRONT, *numbers)
    return len(nodes) + (int(row[0]) if row is not None else 0)


def _check_size(rows: int, edges: int) -> None:
    if max(rows, edges // EDGES_PER_ROW) > _MAX_HELD:
        raise unsupported("this many paths")
