"""Patterns, and the clauses of a plan. Each clause turns a table of rows into the next one. And a plan's problems."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from kgnav_mcp.plan.expressions import Expression

UNNAMED = "@"
"""Prefix of the variables that the parser adds for anonymous nodes and edges."""


def is_named(variable: str) -> bool:
    """Whether the user named this variable."""
    return not variable.startswith(UNNAMED)


@dataclass(frozen=True, slots=True)
class NodePattern:
    """A node of a pattern. `labels` are groups: the node has a label of each (`:A:B` is two groups, `:A|B` one).

    If a row already has the variable, its value is the node; if the value is null, nothing matches.
    """

    variable: str
    labels: tuple[tuple[str, ...], ...] = ()
    subclasses: bool = False
    """Whether instances of a label's subclasses count, too, if the graph has a class hierarchy."""


class PathKind(StrEnum):
    """Which paths match one edge of a pattern. A path without edges leads from a node to itself.

    The edge's variable is the list of the path's edges, from source to target; null for the kinds that only return
    the ends (REACHABLE, DISTANCE).
    """

    TRAILS = "trails"
    """All paths with a length between the bounds and no repeated edge: Cypher's `*1..3`."""
    REACHABLE = "reachable"
    """Each end of a path with at least `shortest` edges, once.

    The ends are those of TRAILS if `shortest` is 0 or 1. Longer paths may repeat edges.
    """
    SHORTEST = "shortest"
    """One shortest path for each pair of ends: `shortestPath`. Ties: the first by the ids of its nodes.

    No match if its length is not between the bounds: the shortest path from a node to itself has no edges.
    """
    ALL_SHORTEST = "all shortest"
    """All shortest paths for each pair of ends."""
    DISTANCE = "distance"
    """Each end whose distance, the length of a shortest path, is between the bounds, once."""


@dataclass(frozen=True, slots=True)
class PathLength:
    """The bounds of a path's length, in edges. `longest` None: no upper bound."""

    kind: PathKind
    shortest: int = 1
    longest: int | None = None


@dataclass(frozen=True, slots=True)
class EdgePattern:
    """An edge of a pattern, or with `path` a path of edges of these relations."""

    variable: str
    source: str
    """The variable of the node that the edge leaves."""
    target: str
    relations: tuple[str, ...] = ()
    """The edge has one of these relations; empty: any relation."""
    either: bool = False
    """Whether it may also lead from target to source. A loop matches once."""
    path: PathLength | None = None


@dataclass(frozen=True, slots=True)
class PathPattern:
    """A named path through the pattern: the variables of its nodes and edges, alternating.

    It is null if a part of it is null, or is a path of a kind that only returns its ends.
    """

    variable: str
    elements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """Extends each row by each match of the pattern. Variables that the row already has are fixed."""

    nodes: tuple[NodePattern, ...]
    edges: tuple[EdgePattern, ...] = ()
    paths: tuple[PathPattern, ...] = ()
    where: Expression | None = None
    optional: bool = False
    """Whether a row without a match is kept, with nulls."""
    edges_differ: bool = True
    """Whether an edge of the graph may match only one edge of the pattern, as in Cypher.

    This includes the edges of paths of kind TRAILS; edges of other kinds of paths may match other edges, too.
    """


@dataclass(frozen=True, slots=True)
class Unwind:
    """Extends each row by each member of a list. A value that is not a list gives one row, null gives none."""

    of: Expression
    variable: str


@dataclass(frozen=True, slots=True)
class Column:
    """A named value."""

    name: str
    value: Expression


@dataclass(frozen=True, slots=True)
class Order:
    """A value to sort by; nulls are the largest."""

    by: Expression
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Project:
    """The rows with these columns only: Cypher's `WITH` and `RETURN`.

    If a column has an aggregate, there is one row for each distinct combination of the columns without one. If all
    columns have one, there is one row, even if there were no rows. `order` and `where` can use the new columns, and
    also old variables if nothing is aggregated or made distinct.

    Ties in `order`, and all rows if it is empty, are sorted by their cells, column by column: nodes by id, edges by
    head, relation, tail and qualifiers, lists and paths by their members, numbers by size, text by code points, false
    before true. So the same plan gives the same rows in the same order, with `skip` and `limit`, from every store.
    Values of several kinds in one column are sorted as in Cypher: nodes, edges, lists, paths, text, booleans, numbers,
    nulls. `where` filters the rows that remain.
    """

    columns: tuple[Column, ...]
    distinct: bool = False
    order: tuple[Order, ...] = ()
    skip: int = 0
    limit: int | None = None
    where: Expression | None = None


Clause = Match | Unwind | Project


@dataclass(frozen=True, slots=True)
class GivenNodes:
    """Rows of nodes that the caller of a store has: the ids of some variables, as the graph returned them."""

    variables: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """Distinct rows, each with an id for each variable."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A sequence of clauses that starts with the given rows, or else one empty row. The last clause is a `Project`."""

    clauses: tuple[Clause, ...]
    given: GivenNodes | None = None

    @property
    def result(self) -> Project:
        """The last projection, which is the result.

        Raises:
            TypeError: the last clause is not a projection.
        """
        last = self.clauses[-1]
        if not isinstance(last, Project):
            raise TypeError("a plan must end with RETURN")
        return last

    @property
    def matches(self) -> Iterator[Match]:
        """The `Match` clauses, without the patterns in conditions."""
        return (clause for clause in self.clauses if isinstance(clause, Match))


@dataclass(frozen=True, slots=True)
class Plan:
    """A question about a pattern of the graph: one pipeline, or a union of several with the same columns.

    Rows of a union are sorted by their cells, whatever order its pipelines have.
    """

    pipelines: tuple[Pipeline, ...]
    keep_duplicates: bool = False
    """Whether the union keeps equal rows: `UNION ALL`."""
    only_exists: bool = False
    """Whether the plan only asks if there is any row. The answer is the first row, the witness."""
    in_any_order: bool = False
    """Whether rows that the order leaves equal may have any order and need no total: the caller reads all of them."""
    prefilter: bool = False
    """Whether the caller of the store checks all conditions again. A store may then apply those on properties of edges
    loosely, or leave out some of them, but not all."""
    properties: tuple[tuple[str, str], ...] = ()
    """Variables of nodes that are columns, each with a relation whose far ends the caller wants, too. A hint: a store
    may leave them out."""
    list_keys: bool = False
    """Whether groups may have lists as keys, for which some stores read the values of all nodes of the graph. A hint:
    other stores have them always."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of the result."""
        return tuple(column.name for column in self.pipelines[0].result.columns)


@dataclass(frozen=True, slots=True)
class PlanProblem:
    """One reason why a plan cannot run: its place, an explanation, and alternatives.

    `place` is the part as the user wrote it: a clause with line and column, the key of a pattern, or a step.
    `alternatives` are valid texts for that place, nearest first.
    """

    place: str
    reason: str
    alternatives: tuple[str, ...] = ()
