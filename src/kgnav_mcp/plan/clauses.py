"""Patterns, and the clauses that make a plan: each takes a table of rows and gives the next one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from kgnav_mcp.plan.expressions import Expression

UNNAMED = "@"
"""A variable that begins so has no name: its writer gave it none."""


def is_named(variable: str) -> bool:
    """Whether its writer gave a variable a name."""
    return not variable.startswith(UNNAMED)


@dataclass(frozen=True, slots=True)
class NodePattern:
    """A node of a pattern. `labels` are groups: it has a label of each (`:A:B` is two groups, `:A|B` one).

    A variable that a row has already stands for what the row has; where that is null, nothing fits.
    """

    variable: str
    labels: tuple[tuple[str, ...], ...] = ()
    subclasses: bool = False
    """Whether instances of a label's subclasses count, too, where the store has classes with subclasses."""


class PathKind(StrEnum):
    """Which paths count as one edge of a pattern. A path of no edges leads from a node to itself.

    The edge's variable is the list of the path's edges, from source to target; null where only ends are told
    (REACHABLE, DISTANCE).
    """

    TRAILS = "trails"
    """Each path of a length between the bounds that takes no edge twice: Cypher's `*1..3`."""
    REACHABLE = "reachable"
    """Each end that some path of at least so many edges leads to, once: `*` without an upper bound.

    Such a path may take an edge again: along edges in either direction, a node that has one reaches itself.
    """
    SHORTEST = "shortest"
    """One of the shortest paths for each pair of ends: `shortestPath`. The first by the ids of its nodes.

    None where its length is not between the bounds: the shortest path from a node to itself has no edges.
    """
    ALL_SHORTEST = "all shortest"
    """All of the shortest."""
    DISTANCE = "distance"
    """Each end whose distance, the length of a shortest path, lies between the bounds, once."""


@dataclass(frozen=True, slots=True)
class PathLength:
    """The lengths of a path, in edges. `longest` None: any."""

    kind: PathKind
    shortest: int = 1
    longest: int | None = None


@dataclass(frozen=True, slots=True)
class EdgePattern:
    """An edge of a pattern, or with `path` a path of edges of these relations."""

    variable: str
    source: str
    """The variable of the node that it leaves."""
    target: str
    relations: tuple[str, ...] = ()
    """One of these; none: any."""
    either: bool = False
    """Whether it may lead from target to source as well. An edge from a node to itself fits once."""
    path: PathLength | None = None


@dataclass(frozen=True, slots=True)
class PathPattern:
    """A name for a way through the pattern: its nodes and edges by their variables, in turn.

    Null where a part of it is, or where only the ends of a part are told.
    """

    variable: str
    elements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """For each row so far, one row for each way in which the pattern fits around the variables it already has."""

    nodes: tuple[NodePattern, ...]
    edges: tuple[EdgePattern, ...] = ()
    paths: tuple[PathPattern, ...] = ()
    where: Expression | None = None
    optional: bool = False
    """Whether a row that nothing fits stays, with nulls."""
    edges_differ: bool = True
    """Whether no edge of the graph may stand for two edges of the pattern, as in Cypher.

    Each edge of a path of the kind TRAILS counts as one; those of other kinds of paths may be edges of the pattern.
    """


@dataclass(frozen=True, slots=True)
class Unwind:
    """For each row so far, one row for each member of a list; one for a value that is no list, none for null."""

    of: Expression
    variable: str


@dataclass(frozen=True, slots=True)
class Column:
    """A value under a name."""

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

    Where a column has an aggregate, one row for each different row of the columns without; where all columns have one,
    one row, of no rows too. `order` and `where` know the new columns, and old variables as well where nothing is
    aggregated or made distinct. Rows that `order` leaves equal, and all rows where it is empty, come in the order of
    their cells, column by column: nodes by id, edges by head, relation, tail and qualifiers, lists and paths by their
    members, numbers by size, text by code points, no before yes; so that the same plan gives the same rows in the same
    order, with `skip` and `limit`, from every store. Values of several kinds in one column come as in Cypher: nodes,
    edges, lists, paths, text, yes or no, numbers, nulls. `where` is asked of the rows that are left.
    """

    columns: tuple[Column, ...]
    distinct: bool = False
    order: tuple[Order, ...] = ()
    skip: int = 0
    limit: int | None = None
    where: Expression | None = None


Clause = Match | Unwind | Project


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Clauses one after the other, from a table of one empty row. The last one is a `Project`."""

    clauses: tuple[Clause, ...]

    @property
    def result(self) -> Project:
        """What it returns."""
        last = self.clauses[-1]
        if not isinstance(last, Project):
            raise TypeError("a plan ends with what it returns")
        return last

    @property
    def matches(self) -> Iterator[Match]:
        """Its patterns, without those of conditions."""
        return (clause for clause in self.clauses if isinstance(clause, Match))


@dataclass(frozen=True, slots=True)
class Plan:
    """A question about a pattern of the graph: one pipeline, or a union of several with the same columns.

    Rows of a union come in the order of their cells, whatever its pipelines sort.
    """

    pipelines: tuple[Pipeline, ...]
    keep_duplicates: bool = False
    """Whether the union keeps equal rows: `UNION ALL`."""
    asks: bool = False
    """Whether only is asked if there is any row: the first one is the answer, its witness."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of what it returns."""
        return tuple(column.name for column in self.pipelines[0].result.columns)
