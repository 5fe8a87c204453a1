"""Finds paths before the query runs, starting at the nodes that its other parts allow. They are joined as a table."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Sequence

from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.plans.names import NameResolver
from kgnav_mcp.adapters.embedded.plans.sort_keys import EdgeKey, SortKeys, listed
from kgnav_mcp.adapters.embedded.plans.statement import unsupported
from kgnav_mcp.plan import EdgePattern, PathKind
from kgnav_mcp.port.path_search import EdgeRequest, Link, PathSearch

MOST_ENDS = 20_000
"""Nodes from which paths are searched, at most."""
_MOST_HELD = 300_000
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
        raise TypeError("an edge without a length is no path")
    things = SortKeys(words.builder)
    search = PathSearch[int, EdgeKey](
        edge.path,
        node_order=things.node_id,
        edge_order=things.edge_sort_key,
        bound=_MOST_HELD,
        check=_check_size,
        keep_edges=False,
        either=edge.either,
        count_edges=lambda nodes, incoming: _count_edges(words, nodes, None if edge.either else incoming, relations),
    )
    links = search.links(sorted(starts), frozenset(far) if far else None, forward=forward)
    query = queries.plans.STEPS_EITHER if edge.either else None
    ordered = things if edge.path.kind is PathKind.SHORTEST else None
    rows = [
        (start, end, listed(edges)) if forward else (end, start, listed(edges))
        for start, edges, end in _run_search(words, search, links, query, relations, ordered=ordered)
    ]
    if sources and targets:
        wanted_pairs = set(pairs)
        rows = [row for row in rows if row[:2] in wanted_pairs]
    return json.dumps(rows, separators=(",", ":"))


def _run_search(
    words: NameResolver,
    search: PathSearch[int, EdgeKey],
    links: Generator[EdgeRequest[int], None, list[Link[int, EdgeKey]]],
    either: str | None,
    relations: Sequence[int],
    *,
    ordered: SortKeys | None,
) -> list[Link[int, EdgeKey]]:
    """Runs a search, reading the edges that it needs. `ordered`: loads the ids that it sorts nodes by in batches."""
    session, own = words.builder.session, json.dumps(list(relations))
    while True:
        session.check()
        try:
            request = next(links)
        except StopIteration as done:
            return done.value
        query = either or (queries.plans.STEPS_BACK if request.incoming else queries.plans.STEPS_ON)
        steps = session.all(query, json.dumps(request.nodes), own)
        if ordered is not None:
            ordered.load_ids(far for *_, far in steps)
        search.add_edges(request, ((near, (s, p, o, n), far) for near, s, p, o, n, far in steps))


def _count_edges(words: NameResolver, nodes: Sequence[int], incoming: bool | None, relations: Sequence[int]) -> int:
    """Returns the number of nodes, and of edges of the hubs among them. `incoming` None: in both directions."""
    directions = [0, 1] if incoming is None else [int(incoming)]
    numbers = (json.dumps(values) for values in (nodes, directions, list(relations)))
    row = words.builder.session.one(queries.plans.EDGES_OF_FRONT, *numbers)
    return len(nodes) + (int(row[0]) if row is not None else 0)


def _check_size(rows: int) -> None:
    if rows > _MOST_HELD:
        raise unsupported("so many paths")
