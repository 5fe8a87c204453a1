"""What the parts of a pattern are to tables: joins, ways, the columns that it binds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from kgnav_mcp.model import Direction
from kgnav_mcp.navigation.plans.interning import Step
from kgnav_mcp.navigation.plans.values import Edge, Node, Row, Table, Value, Way, flat
from kgnav_mcp.plan import EdgePattern, Match, NodePattern, PathKind, PathPattern

PROOF = "\0proof"
"""The column of the edges that a row rests on, where they are asked for. No variable is called so."""
TIMES = "\0times"
"""The column that says how many equal rows a row stands for. No variable is called so; a table without it: one."""
_WAY = "\0way"
"""Columns that begin so have the edges of one path where a pattern asks for its ends only: what it rests on."""


def joined(table: Table, links: Table, edge: str, taken: Sequence[str], bound: int) -> Table:
    """The rows of a table with those of links that agree in all columns that both have; at most one above the bound.

    Rows in which the edge is among those taken are left out.
    """
    shared = [name for name in links.names if name in table.names]
    new = [place for place, name in enumerate(links.names) if name not in table.names]
    mine, theirs = [table.names.index(name) for name in shared], [links.names.index(name) for name in shared]
    used, place = [table.names.index(name) for name in taken], links.names.index(edge)
    by_key: dict[Row, list[Row]] = defaultdict(list)
    for link in links.rows:
        by_key[tuple(link[at] for at in theirs)].append(link)
    rows: list[Row] = []
    for row in table.rows:
        held = set(flat([row[at] for at in used])) if used else set[Value]()
        for link in by_key.get(tuple(row[at] for at in mine), ()):
            if held and not held.isdisjoint(flat([link[place]])):
                continue
            rows.append((*row, *(link[at] for at in new)))
        if len(rows) > bound:
            break
    return Table((*table.names, *(links.names[at] for at in new)), rows)


def paired(table: Table, other: Table) -> Table:
    """Each row of a table with each of another."""
    rows = [(*row, *new) for row in table.rows for new in other.rows]
    return Table((*table.names, *other.names), rows)


def times(table: Table) -> list[int]:
    """How many equal rows each row stands for."""
    if TIMES not in table.names:
        return [1] * len(table.rows)
    return [number for number in table.column(TIMES) if isinstance(number, int)]


def weighted(table: Table) -> Table:
    """A table that says how many equal rows each row stands for."""
    if TIMES in table.names:
        return table
    return Table((*table.names, TIMES), [(*row, 1) for row in table.rows])


def merged(match: Match) -> dict[str, NodePattern]:
    """One pattern for each node, with all labels that it has anywhere in the match."""
    found: dict[str, NodePattern] = {}
    for node in match.nodes:
        known = found.get(node.variable)
        found[node.variable] = node if known is None else replace(known, labels=known.labels + node.labels)
    for edge in match.edges:
        for name in (edge.source, edge.target):
            found.setdefault(name, NodePattern(name))
    return found


def bound_by(match: Match) -> list[str]:
    """What a match binds."""
    edges, paths = (edge.variable for edge in match.edges), (path.variable for path in match.paths)
    return [*merged(match), *edges, *paths]


def unmatched(match: Match, table: Table) -> Table:
    """The rows of a table with nulls for what a match would bind."""
    names = [name for name in bound_by(match) if name not in table.names]
    return Table((*table.names, *names), [(*row, *(None for _ in names)) for row in table.rows])


def direction_from(edge: EdgePattern, end: str) -> Direction | None:
    """The direction of an edge, seen from one of its ends."""
    if edge.either:
        return None
    return Direction.OUTGOING if end == edge.source else Direction.INCOMING


def side_of(match: Match, outer: Sequence[str]) -> Direction | None:
    """The direction of the edges of a single given node, where a pattern fits each of them and asks no more."""
    if len(match.edges) != 1 or len(outer) != 1 or match.where is not None or match.paths:
        return None
    (edge,) = match.edges
    ends = (edge.source, edge.target)
    alone = edge.path is None and not edge.either and ends[0] != ends[1] and outer[0] in ends
    if not alone or any(node.labels or node.variable not in ends for node in match.nodes):
        return None
    return direction_from(edge, outer[0])


def of_certain_edges(edge: EdgePattern) -> bool:
    """Whether it stands for certain edges: one edge or a trail, not for the shortest way or for any."""
    return edge.path is None or edge.path.kind is PathKind.TRAILS


def has_value(kind: PathKind) -> bool:
    """Whether a path of this kind has edges to see."""
    return kind in {PathKind.TRAILS, PathKind.SHORTEST, PathKind.ALL_SHORTEST}


def looped(names: tuple[str, str, str], steps: Sequence[tuple[Node, Value, Node]]) -> Table:
    """A table of links; where source and target are one variable, of those that lead back."""
    if names[0] != names[2]:
        return Table(names, list(steps))
    return Table(names[:2], [(source, edge) for source, edge, target in steps if source is target])


def known_steps(table: Table, edge: EdgePattern) -> list[Step]:
    """The edges that a variable already stands for."""
    found = [one for one in dict.fromkeys(table.column(edge.variable)) if isinstance(one, Edge)]
    found = [one for one in found if not edge.relations or one.triple.relation.id in edge.relations]
    steps: list[Step] = [(one.head, one, one.tail) for one in found]
    return steps + [(one.tail, one, one.head) for one in found if edge.either and one.head is not one.tail]


def column_of(edge: EdgePattern) -> str:
    """The column that has what an edge or a path of a pattern stands for, or rests on."""
    return edge.variable if edge.path is None or has_value(edge.path.kind) else _WAY + edge.variable


def ways_as_links(edge: EdgePattern, ways: Sequence[tuple[Node, Value, Node]]) -> Table:
    """A table of paths, from source to target. Where only the ends are asked for, their edges stand aside."""
    if column_of(edge) == edge.variable:
        return looped((edge.source, edge.variable, edge.target), ways)
    found = looped((edge.source, column_of(edge), edge.target), ways)
    return Table((*found.names, edge.variable), [(*row, None) for row in found.rows])


def with_paths(match: Match, table: Table) -> Table:
    """A table with the ways through a pattern that have a name."""
    edges = {edge.variable: edge for edge in match.edges}
    places, names = table.places, tuple(path.variable for path in match.paths)
    rows = [(*row, *(_way(row, places, path, edges) for path in match.paths)) for row in table.rows]
    return Table((*table.names, *names), rows)


def with_proof(match: Match, table: Table) -> Table:
    """A table without the columns of ways; what they and the edges of a match are is added to what rows rest on."""
    kept = [place for place, name in enumerate(table.names) if not name.startswith(_WAY)]
    names = tuple(table.names[place] for place in kept)
    if PROOF not in names:
        return table if len(names) == len(table.names) else Table(names, list(table.pick(names)))
    edges = [table.names.index(column_of(edge)) for edge in match.edges]
    proof = table.names.index(PROOF)

    def rests_on(row: Row) -> Value:
        own = (one for place in edges for one in flat([row[place]]) if isinstance(one, Edge))
        return tuple(dict.fromkeys((*flat([row[proof]]), *own)))

    rows = [_at((*row[:proof], rests_on(row), *row[proof + 1 :]), kept) for row in table.rows]
    return Table(names, rows)


def _at(row: Row, places: Sequence[int]) -> Row:
    return tuple(row[place] for place in places)


def _way(row: Row, places: dict[str, int], path: PathPattern, edges: dict[str, EdgePattern]) -> Value:
    """The path that a row takes through its pattern; null where a part of it is not known."""
    first = row[places[path.elements[0]]]
    nodes, taken = [first], list[Edge]()
    for before, name in pairwise(path.elements):
        if name not in edges:
            continue
        value = row[places[name]]
        pattern = edges[name]
        if value is None or (pattern.path is not None and not has_value(pattern.path.kind)):
            return None
        steps = list(flat([value]))
        for edge in steps if before == pattern.source else reversed(steps):
            near = nodes[-1]
            if not isinstance(edge, Edge) or not isinstance(near, Node):
                return None
            taken.append(edge)
            nodes.append(edge.other(near))
    return Way(tuple(node for node in nodes if isinstance(node, Node)), tuple(taken))
