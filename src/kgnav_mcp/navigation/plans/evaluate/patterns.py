"""Operations on tables for the parts of a pattern: joins, paths, and the columns that it binds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kgnav_mcp.model import Direction
from kgnav_mcp.navigation.plans.evaluate.interning import Step
from kgnav_mcp.navigation.plans.evaluate.values import Edge, Node, PathValue, Row, Table, Value, flat
from kgnav_mcp.plan import EdgePattern, Match, PathKind, PathPattern
from kgnav_mcp.plan.walking import node_patterns

_ROW = "\0outer"
"""The column that numbers the rows before an optional pattern is matched. No variable has this name."""
PROOF = "\0proof"
"""The column with the edges that prove a row, if they are wanted. No variable has this name."""
MULTIPLICITY = "\0times"
"""The column with the number of equal rows that a row stands for; without it, one. No variable has this name."""
_PATH_EDGES = "\0way"
"""Prefix of columns with the edges of a path of which the pattern wants only the ends: they are part of the proof."""


def natural_join(table: Table, links: Table, edge: str, taken: Sequence[str], bound: int) -> Table:
    """The natural join of a table with links. Stops soon after the bound.

    Rows whose `edge` is also in one of the columns `taken` are left out.
    """
    shared = [name for name in links.names if name in table.names]
    new = [place for place, name in enumerate(links.names) if name not in table.names]
    own_places, link_places = [table.names.index(name) for name in shared], [links.names.index(name) for name in shared]
    used, place = [table.names.index(name) for name in taken], links.names.index(edge)
    by_key: dict[Row, list[Row]] = defaultdict(list)
    for link in links.rows:
        by_key[tuple(link[at] for at in link_places)].append(link)
    rows: list[Row] = []
    for row in table.rows:
        taken_edges = set(flat([row[at] for at in used])) if used else set[Value]()
        for link in by_key.get(tuple(row[at] for at in own_places), ()):
            if taken_edges and not taken_edges.isdisjoint(flat([link[place]])):
                continue
            rows.append((*row, *(link[at] for at in new)))
        if len(rows) > bound:
            break
    return Table((*table.names, *(links.names[at] for at in new)), rows)


def product_of(table: Table, other: Table, places: Sequence[Sequence[int]]) -> Table:
    """Each row of a table combined with those rows of another one that have the places given for it."""
    rows = [(*row, *other.rows[place]) for row, own in zip(table.rows, places, strict=True) for place in own]
    return Table((*table.names, *other.names), rows)


def multiplicities(table: Table) -> list[int]:
    """The number of equal rows that each row stands for."""
    if MULTIPLICITY not in table.names:
        return [1] * len(table.rows)
    return [number for number in table.column(MULTIPLICITY) if isinstance(number, int)]


@dataclass(frozen=True, slots=True)
class Found:
    """Matches that a store found: nodes that were given, then other columns, and the number of equal matches."""

    given: int
    """The number of columns of given nodes."""
    names: tuple[str, ...]
    rows: list[Row]


def ids_of(table: Table, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The distinct rows of ids of some nodes, without rows with a null: nothing matches these."""
    rows = (row for row in dict.fromkeys(table.pick(names)) if None not in row)
    return tuple(tuple(value.id for value in row if isinstance(value, Node)) for row in rows)


def with_matches(table: Table, found: Found, bound: int, chosen: Sequence[Sequence[int]] | None = None) -> Table:
    """The rows of a table extended by the matches of a pattern around them. Stops soon after the bound.

    `chosen`: the places of the matches for each row; None finds them by the given nodes.
    """
    width = found.given
    places = [table.names.index(name) for name in found.names[:width]]
    kept = [place for place, name in enumerate(table.names) if name != MULTIPLICITY]
    by_key: dict[Row, list[int]] = defaultdict(list)
    for place, match in enumerate(found.rows if chosen is None else ()):
        by_key[match[:width]].append(place)
    rows: list[Row] = []
    for at, (row, before) in enumerate(zip(table.rows, multiplicities(table), strict=True)):
        own = _at(row, kept)
        for place in by_key.get(_at(row, places), ()) if chosen is None else chosen[at]:
            *new, number = found.rows[place][width:]
            rows.append((*own, *new, before * number if isinstance(number, int) else None))
        if len(rows) > bound:
            break
    return Table((*(table.names[place] for place in kept), *found.names[width:]), rows)


def with_multiplicity(table: Table) -> Table:
    """The table with the column MULTIPLICITY."""
    if MULTIPLICITY in table.names:
        return table
    return Table((*table.names, MULTIPLICITY), [(*row, 1) for row in table.rows])


def bound_variables(match: Match) -> list[str]:
    """The variables that a match binds."""
    edges, paths = (edge.variable for edge in match.edges), (path.variable for path in match.paths)
    return [*node_patterns(match), *edges, *paths]


def _unmatched(match: Match, table: Table) -> Table:
    """The rows of a table with nulls for the variables that a match would bind."""
    names = [name for name in bound_variables(match) if name not in table.names]
    return Table((*table.names, *names), [(*row, *(None for _ in names)) for row in table.rows])


def direction_from(edge: EdgePattern, end: str) -> Direction | None:
    """The direction of an edge, seen from one of its ends."""
    if edge.either:
        return None
    return Direction.OUTGOING if end == edge.source else Direction.INCOMING


def direction_of_all_edges(match: Match, outer: Sequence[str]) -> Direction | None:
    """The direction of edges if a pattern matches all edges of one given node in that direction; otherwise None."""
    if len(match.edges) != 1 or len(outer) != 1 or match.where is not None or match.paths:
        return None
    (edge,) = match.edges
    ends = (edge.source, edge.target)
    single_edge = edge.path is None and not edge.either and ends[0] != ends[1] and outer[0] in ends
    if not single_edge or any(node.labels or node.variable not in ends for node in match.nodes):
        return None
    return direction_from(edge, outer[0])


def has_specific_edges(edge: EdgePattern) -> bool:
    """Whether a match consists of specific edges: a single edge or a trail, not a shortest path or reachability."""
    return edge.path is None or edge.path.kind is PathKind.TRAILS


def includes_edges(kind: PathKind) -> bool:
    """Whether the value of a path of this kind includes its edges."""
    return kind in {PathKind.TRAILS, PathKind.SHORTEST, PathKind.ALL_SHORTEST}


def links_table(names: tuple[str, str, str], steps: Sequence[tuple[Node, Value, Node]]) -> Table:
    """A table of links; if source and target are the same variable, only the loops."""
    if names[0] != names[2]:
        return Table(names, list(steps))
    return Table(names[:2], [(source, edge) for source, edge, target in steps if source is target])


def steps_of_bound_edge(table: Table, edge: EdgePattern) -> list[Step]:
    """The edges in the column of a variable that is already bound, as steps."""
    found = [one for one in dict.fromkeys(table.column(edge.variable)) if isinstance(one, Edge)]
    found = [one for one in found if not edge.relations or one.triple.relation.id in edge.relations]
    steps: list[Step] = [(one.head, one, one.tail) for one in found]
    return steps + [(one.tail, one, one.head) for one in found if edge.either and one.head is not one.tail]


def column_of(edge: EdgePattern) -> str:
    """The column with the value of an edge or path, or with its proof if only its ends are wanted."""
    return edge.variable if edge.path is None or includes_edges(edge.path.kind) else _PATH_EDGES + edge.variable


def paths_as_links(edge: EdgePattern, ways: Sequence[tuple[Node, Value, Node]]) -> Table:
    """A table of paths, from source to target. If only the ends are wanted, the edges go to a column of their own."""
    if column_of(edge) == edge.variable:
        return links_table((edge.source, edge.variable, edge.target), ways)
    found = links_table((edge.source, column_of(edge), edge.target), ways)
    return Table((*found.names, edge.variable), [(*row, None) for row in found.rows])


def with_paths(match: Match, table: Table) -> Table:
    """The table with a column for each named path of a pattern."""
    edges = {edge.variable: edge for edge in match.edges}
    places, names = table.places, tuple(path.variable for path in match.paths)
    rows = [(*row, *(_named_path(row, places, path, edges) for path in match.paths)) for row in table.rows]
    return Table((*table.names, *names), rows)


def with_proof(match: Match, table: Table) -> Table:
    """The table without columns of paths' edges; these and the edges of the match are added to the column PROOF."""
    kept_places = [place for place, name in enumerate(table.names) if not name.startswith(_PATH_EDGES)]
    names = tuple(table.names[place] for place in kept_places)
    if PROOF not in names:
        return table if len(names) == len(table.names) else Table(names, list(table.pick(names)))
    edges = [table.names.index(column_of(edge)) for edge in match.edges]
    proof = table.names.index(PROOF)

    def proof_of(row: Row) -> Value:
        own = (one for place in edges for one in flat([row[place]]) if isinstance(one, Edge))
        return tuple(dict.fromkeys((*flat([row[proof]]), *own)))

    rows = [_at((*row[:proof], proof_of(row), *row[proof + 1 :]), kept_places) for row in table.rows]
    return Table(names, rows)


def _at(row: Row, places: Sequence[int]) -> Row:
    return tuple(row[place] for place in places)


def _named_path(row: Row, places: dict[str, int], path: PathPattern, edges: dict[str, EdgePattern]) -> Value:
    """The named path of a row through its pattern; null if a part of it has no edges."""
    first = row[places[path.elements[0]]]
    nodes, taken = [first], list[Edge]()
    for before, name in pairwise(path.elements):
        if name not in edges:
            continue
        value = row[places[name]]
        pattern = edges[name]
        if value is None or (pattern.path is not None and not includes_edges(pattern.path.kind)):
            return None
        steps = list(flat([value]))
        for edge in steps if before == pattern.source else reversed(steps):
            near = nodes[-1]
            if not isinstance(edge, Edge) or not isinstance(near, Node):
                return None
            taken.append(edge)
            nodes.append(edge.other(near))
    return PathValue(tuple(node for node in nodes if isinstance(node, Node)), tuple(taken))


def numbered_rows(table: Table) -> Table:
    """The table with a column that numbers its rows, for `with_unmatched`."""
    return Table((*table.names, _ROW), [(*row, number) for number, row in enumerate(table.rows)])


def with_unmatched(match: Match, numbered: Table, found: Table, counted: Collection[str]) -> Table:
    """The result of an optional pattern: its matches, then the rows without a match with nulls; without numbers.

    Those variables of `counted` that are not in the matches are true there: of them only is needed that they are not
    null.
    """
    new = [name for name in bound_variables(match) if name in counted and name not in found.names]
    found = Table((*found.names, *new), [(*row, *(True for _ in new)) for row in found.rows]) if new else found
    matched_numbers = set(found.column(_ROW))
    unmatched_rows = _unmatched(
        match, Table(numbered.names, [row for row in numbered.rows if row[-1] not in matched_numbers])
    )
    names = tuple(name for name in found.names if name != _ROW)
    rows = (part.pick(names) for part in (found, unmatched_rows))
    return Table(names, [row for part in rows for row in part])
