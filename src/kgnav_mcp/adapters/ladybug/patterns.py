"""Runs plans that are single patterns, with one query for each combination of the given nodes' tables.

In LadybugDB, unlike in Neo4j, two edges of one MATCH may be the same edge, so the query states that they differ.
Undirected edges are refused, because an edge from a node to itself would match twice. Paths are refused, because they
may repeat an edge.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

from kgnav_mcp.adapters.cypher.session import quoted
from kgnav_mcp.adapters.ladybug.rows import TableEntities
from kgnav_mcp.adapters.ladybug.tables import Table, key_of
from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.errors import Unsupported
from kgnav_mcp.model import PlanPage
from kgnav_mcp.plan import (
    Compare,
    Comparison,
    Connective,
    EdgePattern,
    Exists,
    Expression,
    HasLabel,
    Joined,
    Match,
    Not,
    Plan,
    Variable,
)
from kgnav_mcp.plan.walking import id_condition
from kgnav_mcp.port.pattern_conditions import QualifierCondition, number_condition
from kgnav_mcp.port.pattern_queries import PatternMatch, PatternQuery, pattern_query

_WORDS = {Connective.AND: " AND ", Connective.OR: " OR "}
_IDENTITY = {Comparison.EQUAL: "=", Comparison.UNEQUAL: "<>"}

Scope = dict[str, list[Table]]
"""The tables that the node of each variable may be in."""


class PatternReader:
    """Matches patterns in the store."""

    def __init__(self, entities: TableEntities) -> None:
        self._entities = entities

    async def page(self, plan: Plan, limit: int, after: str | None) -> PlanPage:
        """The first rows of a plan.

        Raises:
            Unsupported: the plan is more than a pattern, or the pattern cannot be expressed.
        """
        query = pattern_query(plan)
        if after is not None or query.least > 1 or (query.largest_first and len(query.given_rows) > 1):
            raise _refused("a later page, a minimum number of matches, or a limit on matches around several nodes")
        found: list[PatternMatch] = []
        for labels, rows in self._rows_by_tables(query).items():
            found += await self._read(
                query, dict(zip(query.given_nodes, labels, strict=True)), rows, limit - len(found)
            )
            if len(found) >= limit:
                break
        return await in_thread(len(found), lambda: query.page(found, limit))

    def _rows_by_tables(self, query: PatternQuery) -> Mapping[tuple[str, ...], list[list[str]]]:
        """The primary keys of the given rows, by the tables of their nodes."""
        ids = sorted({id_ for row in query.given_rows for id_ in row})
        places = {
            node_id: (table, str(key))
            for table, keys in self._entities.keys_by_table(ids).items()
            for key, node_id in keys.items()
        }
        found: dict[tuple[str, ...], list[list[str]]] = defaultdict(list)
        for row in query.given_rows:
            if all(id_ in places for id_ in row):
                found[tuple(places[id_][0] for id_ in row)].append([places[id_][1] for id_ in row])
        return found

    async def _read(
        self, query: PatternQuery, tables: Mapping[str, str], rows: list[list[str]], limit: int
    ) -> list[PatternMatch]:
        writer = _Writer(self._entities, tables)
        try:
            pattern, conditions = writer.pattern(query.match)
        except _NoMatchError:
            return []
        names = query.nodes
        for place, name in enumerate(query.given_nodes, 1):
            table = writer.table_of(name)
            given = f"row[{place}]" if len(query.given_nodes) > 1 else "row"
            conditions.insert(0, f"{table.key.expression(writer.name(name))} = {_cast(given, table)}")
        conditions += writer.qualifiers(query.qualifiers)
        number = "count(*)" if query.counted is None else f"count(DISTINCT id({writer.name(query.counted)}))"
        columns = [column for name in names for column in (f"label({writer.name(name)})", writer.key(name))]
        unwind = "UNWIND $rows AS row " if query.given_nodes else ""
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        text = f"{unwind}MATCH {pattern}{where} RETURN {', '.join([*columns, f'{number} AS number'])}"
        if query.given_nodes:
            writer.parameters["rows"] = rows if len(query.given_nodes) > 1 else [row[0] for row in rows]
        order = " ORDER BY number DESC" if query.largest_first else ""
        returned = await self._entities.store.rows(f"{text}{order} LIMIT $most", {**writer.parameters, "most": limit})
        catalogue = self._entities.tables.current
        return [
            PatternMatch(
                tuple(
                    f"{label}:{catalogue.tables[str(label)].key.name}={key}"
                    for label, key in zip(row[:-1:2], row[1:-1:2], strict=True)
                ),
                int(str(row[-1])),
            )
            for row in returned
            if row[-1]
        ]


class _NoMatchError(Exception):
    """No node has all labels of the pattern."""


class _Writer:
    """Writes one query."""

    def __init__(self, entities: TableEntities, given: Mapping[str, str]) -> None:
        self._catalogue = entities.tables.current
        self._entities = entities
        self._given = given
        self._scope: Scope = {}
        self._names: dict[str, str] = {}
        self._edges: dict[str, tuple[str, ...]] = {}
        self.parameters: dict[str, object] = {}

    def name(self, variable: str) -> str:
        """The name of a variable in the query."""
        return self._names.setdefault(variable, f"v{len(self._names)}")

    def table_of(self, variable: str) -> Table:
        """The only table of a given node."""
        return self._tables(variable)[0]

    def key(self, variable: str) -> str:
        """The expression for the primary key of a node, as text."""
        return key_of(self.name(variable), self._tables(variable))

    def pattern(self, match: Match) -> tuple[str, list[str]]:
        """A pattern and its conditions.

        Raises:
            Unsupported: it cannot be expressed.
        """
        outer = dict(self._scope)
        for node in match.nodes:
            allowed = self._tables(node.variable)
            for group in node.labels:
                allowed = [table for table in allowed if table.name in group]
            self._scope[node.variable] = allowed
            if not allowed:
                self._scope |= outer
                raise _NoMatchError
        parts = [self._edge(edge) for edge in match.edges]
        ends = {end for edge in match.edges for end in (edge.source, edge.target)}
        alone = [*(node.variable for node in match.nodes), *(self._given if not outer else ())]
        parts += [self._node(name) for name in dict.fromkeys(alone) if name not in ends]
        conditions = [] if not match.edges_differ else self._differences(match.edges)
        if match.where is not None:
            conditions.append(self._condition(match.where))
        self._scope |= outer  # the labels inside of EXISTS do not narrow the nodes outside
        return ", ".join(parts), conditions

    def _tables(self, variable: str) -> list[Table]:
        if variable not in self._scope:
            given = self._given.get(variable)
            tables = self._catalogue.tables
            self._scope[variable] = [tables[given]] if given else [tables[name] for name in self._catalogue.labels]
        return self._scope[variable]

    def _node(self, variable: str) -> str:
        tables = self._tables(variable)
        every = len(tables) == len(self._catalogue.labels)
        labels = "" if every and len(tables) > 1 else ":" + "|".join(quoted(table.name) for table in tables)
        return f"({self.name(variable)}{labels})"

    def _edge(self, edge: EdgePattern) -> str:
        if edge.path is not None or edge.either:
            raise _refused("paths and undirected edges")
        if unknown := set(edge.relations) - self._catalogue.types.keys():
            raise _refused(f"the relation {min(unknown)}")
        if edge.variable in self._names:
            raise _refused("the same edge variable twice")
        self._edges[edge.variable] = edge.relations
        types = ":" + "|".join(map(quoted, edge.relations)) if edge.relations else ""
        return f"{self._node(edge.source)}-[{self.name(edge.variable)}{types}]->{self._node(edge.target)}"

    def _differences(self, edges: Sequence[EdgePattern]) -> list[str]:
        """The conditions that edges which may be the same differ."""
        return [
            f"id({self.name(one.variable)}) <> id({self.name(other.variable)})"
            for one, other in combinations(edges, 2)
            if not one.relations or not other.relations or set(one.relations) & set(other.relations)
        ]

    def _condition(self, expression: Expression) -> str:  # noqa: PLR0911 - one for each kind
        if (ids := id_condition(expression)) is not None:
            return self._has_id(*ids)
        match expression:
            case Joined(connective, parts) if connective in _WORDS:
                return f"({_WORDS[connective].join(map(self._condition, parts))})"
            case Not(condition):
                return f"(NOT {self._condition(condition)})"
            case Compare(Variable(one), comparison, Variable(other)) if (
                comparison in _IDENTITY and self._scope.keys() >= {one, other}
            ):
                return f"(id({self.name(one)}) {_IDENTITY[comparison]} id({self.name(other)}))"
            case HasLabel(name, labels) if name in self._scope:
                return f"(label({self.name(name)}) IN {self._parameter(list(labels))})"
            case Exists(match):
                return self._exists(match)
            case _:
                return self._within(expression)

    def _exists(self, match: Match) -> str:
        try:
            pattern, conditions = self.pattern(match)
        except _NoMatchError:
            return "false"
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        return f"EXISTS {{ MATCH {pattern}{where} }}"

    def _has_id(self, variable: str, ids: Collection[str]) -> str:
        name, tables = self.name(variable), {table.name: table for table in self._tables(variable)}
        found = [
            f"(label({name}) = {self._parameter(label)} AND "
            f"{tables[label].key.expression(name)} IN {self._parameter(list(keys))})"
            for label, keys in self._entities.keys_by_table(list(ids)).items()
            if label in tables
        ]
        return f"({' OR '.join(found)})" if found else "false"

    def _within(self, expression: Expression) -> str:
        """A comparison of a property of a node with numbers, if all of its columns have numbers."""
        found = number_condition(expression)
        if found is None or found[0].owner not in self._scope or len(found[0].ids) != 1:
            raise _refused("a condition of this kind")
        owned, bounds = found
        columns = [column for table in self._scope[owned.owner] if (column := table.columns.get(owned.ids[0]))]
        if not columns or not all(column.is_number and not column.is_list for column in columns):
            raise _refused("numbers compared together with other values")
        value = f"{self.name(owned.owner)}.{quoted(owned.ids[0])}"
        known = [(comparison, [*bound] if isinstance(bound, tuple) else bound) for comparison, bound in bounds]
        return f"({' AND '.join(f'{value} {comparison} {self._parameter(bound)}' for comparison, bound in known)})"

    def qualifiers(self, conditions: Sequence[QualifierCondition]) -> list[str]:
        """The conditions on properties of edges that can be expressed.

        Raises:
            Unsupported: none can.
        """
        found = [text for condition in conditions if (text := self._qualifier(condition))]
        if conditions and not found:
            raise _refused("conditions on edge properties of this kind")
        return found

    def _qualifier(self, condition: QualifierCondition) -> str | None:
        """The condition on one property of an edge; None if its columns have values of other types than asked for."""
        if condition.node is not None or not condition.values or len(condition.owned.ids) != 1:
            return None
        types = self._edges.get(condition.owned.owner, ())
        columns = [
            column
            for link in self._catalogue.links
            if not types or link.type in types
            for column in link.columns
            if column.name == condition.owned.ids[0]
        ]
        texts = all(isinstance(value, str) for value in condition.values)
        numbers = not any(isinstance(value, str | bool | None) for value in condition.values)
        if not columns or any(column.is_list for column in columns):
            return None
        if (texts and all(column.is_text for column in columns)) or (
            numbers and all(column.is_number for column in columns)
        ):
            name = f"{self.name(condition.owned.owner)}.{quoted(columns[0].name)}"
            return f"{name} IN {self._parameter(list(condition.values))}"
        return None

    def _parameter(self, value: object) -> str:
        name = f"p{len(self.parameters)}"
        self.parameters[name] = value
        return f"${name}"


def _cast(text: str, table: Table) -> str:
    return f"CAST({text} AS INT64)" if table.key.is_whole else text


def _refused(what: str) -> Unsupported:
    return Unsupported(f"a pattern of LadybugDB cannot express {what}")
