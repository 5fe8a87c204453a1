"""Patterns of plans, as a store takes them that matches single patterns: the query and its matches."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from kgnav_mcp.errors import Unsupported
from kgnav_mcp.model import Cell, Count, Entity, Node, PlanPage, PlanRow, Stop
from kgnav_mcp.plan import (
    Aggregate,
    AggregateFunction,
    Call,
    Column,
    Compare,
    Comparison,
    Constant,
    Expression,
    Function,
    Match,
    Order,
    Pipeline,
    Plan,
    Project,
    Property,
    Variable,
)
from kgnav_mcp.plan.walking import conjunction, conjuncts, node_patterns
from kgnav_mcp.port.pattern_conditions import QualifierCondition, can_push, is_plain, qualifier_condition, text_part

_MEASURES = frozenset(
    (
        AggregateFunction.COUNT,
        AggregateFunction.SUM,
        AggregateFunction.AVERAGE,
        AggregateFunction.MINIMUM,
        AggregateFunction.MAXIMUM,
    )
)

GroupKey = Property | Call


@dataclass(frozen=True, slots=True)
class PatternMatch:
    """The ids of a match's nodes, in the order of `PatternQuery.nodes`, and the number of matches, at least one."""

    nodes: tuple[str, ...]
    number: int
    values: tuple[tuple[Node, ...], ...] = ()
    """The values of each of the `properties`, those that rows of `neighbours` have. Empty if they were not read."""
    keys: tuple[Cell, ...] = ()
    """The values of `PatternQuery.keys` and `measures`."""


@dataclass(frozen=True, slots=True)
class PatternQuery:
    """A query for the nodes that match a pattern, with the number of matches of each combination of nodes.

    The pattern is from a checked plan. It has no named paths, and its only paths of variable length are REACHABLE. Its
    nodes are joined by edges or given, or it is a single node with a label, or with a constant as a value. Its `where`
    has conditions of `can_push`.
    """

    match: Match
    nodes: tuple[str, ...]
    """The nodes to return, among them the given ones."""
    columns: tuple[str, ...]
    """The names of the answer's columns: one for each node and, if there is one more, one for the number of matches."""
    given_nodes: tuple[str, ...] = ()
    """Nodes of the pattern or its conditions whose ids are known."""
    given_rows: tuple[tuple[str, ...], ...] = ((),)
    """Ids of the given nodes. The pattern is matched once for each of these distinct rows."""
    counted: str | None = None
    """The node whose distinct ids are counted; None counts matches of the pattern."""
    largest_first: bool = False
    """Whether the matches with the largest numbers come first."""
    least: int = 1
    """The least number of matches that is returned."""
    qualifiers: tuple[QualifierCondition, ...] = ()
    """Properties of the pattern's edges, by which a store finds edges without reading a whole relation.

    They may be applied loosely, and those with constants that the store cannot express may be left out (not all).
    """
    texts: tuple[tuple[Property, str], ...] = ()
    """Properties of nodes, each with a text that is a part of one of its values. Without ids: of the node's names."""
    exact: bool = False
    """Whether all of the qualifiers have to be applied exactly. Each has constants; others are not `unequal`."""
    properties: tuple[tuple[str, str], ...] = ()
    """Some of `nodes`, each with a relation whose far ends are wanted as values of the match, if the store can."""
    keys: tuple[GroupKey, ...] = ()
    """What matches are grouped by, in place of `nodes`: properties with one relation, labels, `type(edge)`.

    `left(property, number)` of a node is a key, too. A store refuses the query if a node or edge of a match has several
    values of a key, or a node has one that is a node, or no text where its first characters are the key.
    """
    list_keys: bool = False
    """Whether labels, and several values of a property, are keys, too.

    They are lists: of distinct values, numbers first, then texts, then booleans.
    """
    measures: tuple[Aggregate, ...] = ()
    """Aggregates of one property (`is_measure`), wanted of each group in place of its number."""

    def page(self, matches: Sequence[PatternMatch], limit: int) -> PlanPage:
        """The page of the plan with these matches, the first `limit` if they are as many."""
        rows: list[tuple[Cell, ...]] = [(*map(Entity, match.nodes), *match.keys) for match in matches]
        if len(self.columns) > len(self.nodes) + len(self.keys) + len(self.measures):
            rows = [(*row, match.number) for row, match in zip(rows, matches, strict=True)]
            if len(self.columns) == 1 and not rows:
                rows = [(0,)]  # the count of nothing
        values: Mapping[tuple[str, str], tuple[Node, ...]] = {
            (match.nodes[self.nodes.index(name)], relation): property_values
            for match in matches
            for (name, relation), property_values in zip(self.properties, match.values, strict=False)
        }
        more = len(rows) >= limit
        return PlanPage(
            tuple(map(PlanRow, rows)),
            (),
            Count.at_least(len(rows)) if more else Count(len(rows)),
            Stop.LIMIT if more else Stop.COMPLETE,
            columns=self.columns,
            values=values,
        )


def pattern_query(
    plan: Plan, *, with_keys: bool = False, with_qualifiers: bool = False, with_texts: bool = False
) -> PatternQuery:
    """The query of a plan that is a single pattern and returns its nodes, each combination once, or with its number.

    `with_keys`: the store can also group matches by values. `with_qualifiers`: it can also apply conditions on
    properties of edges exactly. `with_texts`: it finds candidates by parts of texts.

    Raises:
        Unsupported: the plan is more, or its rows have to come in an order that only their ids determine.
    """
    match plan.pipelines:
        case (Pipeline((Match(optional=False) as match, Project(skip=0, limit=None) as project), given),) if (
            plan.in_any_order and not plan.only_exists
        ):
            pass
        case _:
            raise _refused("plans of several steps, or rows in an order")
    variables, rows = ((), ((),)) if given is None else (given.variables, given.rows)
    qualifiers, conditions = (), conjuncts(match.where)
    if plan.prefilter or with_qualifiers:
        qualifiers, conditions = _conditions(match, variables, exact=not plan.prefilter)
    nodes = {*node_patterns(match), *variables}
    texts: tuple[tuple[Property, str], ...] = ()
    if plan.prefilter and with_texts:
        texts = tuple(part for part in map(text_part, conditions) if part is not None and part[0].owner in nodes)
        conditions = tuple(one for one in conditions if text_part(one) not in texts)
    if not is_plain(match, variables, qualifiers, texts) or not all(
        can_push(condition, frozenset(nodes)) for condition in conditions
    ):
        raise _refused("such a pattern, or one of its conditions")
    returned = _returned_nodes(project.columns, nodes)
    keys, measures = ((), ()) if returned or not with_keys else _keys_and_measures(project.columns, match)
    if not {*variables} <= {*returned}:
        raise _refused("given nodes that are not returned")
    if measures and (project.order or project.where is not None):
        raise _refused("an order of aggregates, or a condition on them")
    before = len(returned) + len(keys)
    number = None if measures else _number(project, before, nodes, repeats=bool(match.edges) or bool(keys))
    query = PatternQuery(
        replace(match, where=conjunction(conditions)),
        returned,
        plan.columns,
        variables,
        rows,
        qualifiers=qualifiers,
        texts=texts,
        exact=not plan.prefilter,
        properties=tuple(property_ for property_ in plan.properties if property_[0] in returned),
        keys=keys,
        list_keys=plan.list_keys,
        measures=measures,
    )
    return query if number is None else _with_number(query, project, number)


def _conditions(
    match: Match, bound: Collection[str], *, exact: bool
) -> tuple[tuple[QualifierCondition, ...], tuple[Expression, ...]]:
    """The conditions on properties of edges, and the others. `exact`: only those with constants."""
    edges = {edge.variable for edge in match.edges if edge.path is None}
    nodes = {None, *node_patterns(match), *bound}
    qualifier_conditions = {condition: qualifier_condition(condition) for condition in conjuncts(match.where)}
    of_edges = {
        condition: parsed
        for condition, parsed in qualifier_conditions.items()
        if parsed is not None
        and parsed.owned.owner in edges
        and (parsed.values if exact else parsed.node in nodes and not parsed.unequal)
    }
    return tuple(of_edges.values()), tuple(condition for condition in qualifier_conditions if condition not in of_edges)


def _returned_nodes(columns: Sequence[Column], nodes: Collection[str]) -> tuple[str, ...]:
    """The nodes that are returned, before a column with their number.

    Raises:
        Unsupported: something else is returned.
    """
    names = [column.value.name for column in columns if isinstance(column.value, Variable)]
    if any(name not in nodes for name in names) or len({*names}) < len(names):
        raise _refused("anything but nodes and their number")
    if any(column.value != Variable(name) for column, name in zip(columns, names, strict=False)):
        raise _refused("a number before nodes")
    return tuple(names)


def is_measure(aggregate: Aggregate) -> bool:
    """Whether an aggregate is the number, sum, mean, minimum or maximum of the values of a property."""
    return (
        aggregate.function in _MEASURES
        and not aggregate.distinct
        and isinstance(aggregate.of, Property)
        and len(aggregate.of.ids) == 1
    )


def _keys_and_measures(columns: Sequence[Column], match: Match) -> tuple[tuple[GroupKey, ...], tuple[Aggregate, ...]]:
    """The values by which matches are grouped, and the aggregates of one property after them; or only the first.

    Raises:
        Unsupported: such a value is something else.
    """
    nodes, edges = node_patterns(match), {edge.variable for edge in match.edges if edge.path is None}
    keys: list[GroupKey] = []
    of = [column.value for column in columns if isinstance(column.value, Aggregate)]
    for column in columns[: len(columns) - len(of)]:
        match column.value:
            case Property(owner, _, (_,)) as key if owner in nodes or owner in edges:
                keys.append(key)
            case Call(Function.TYPE, (Variable(name),)) as key if name in edges:
                keys.append(key)
            case Call(Function.LABELS, (Variable(name),)) as key if name in nodes:
                keys.append(key)
            case Call(Function.LEFT, (Property(owner, _, (_,)), Constant(int()))) as key if owner in nodes:
                keys.append(key)
            case _:
                raise _refused("such a value")
    one_property = len({aggregate.of for aggregate in of}) == 1 and all(map(is_measure, of))
    is_known = one_property and isinstance(of[0].of, Property) and (of[0].of.owner in nodes or of[0].of.owner in edges)
    return tuple(keys), tuple(of) if is_known else ()


def _number(project: Project, before: int, nodes: Collection[str], *, repeats: bool) -> Column | None:
    """The column with the number of matches, if there is one after those `before` it.

    `repeats`: combinations of nodes may match repeatedly.

    Raises:
        Unsupported: the column is something else, or each match is a row of its own.
    """
    if len(project.columns) > before + 1:
        raise _refused("anything but nodes and their number")
    if len(project.columns) == before:
        if (repeats and not project.distinct) or not before or project.order or project.where is not None:
            raise _refused("each match as a row")
        return None
    column = project.columns[-1]
    match column.value:
        case Aggregate(AggregateFunction.COUNT, None, distinct=False):
            return column
        case Aggregate(AggregateFunction.COUNT, Variable(name), distinct=True) if name in nodes:
            return column
        case _:
            raise _refused("such an aggregate")


def _with_number(query: PatternQuery, project: Project, number: Column) -> PatternQuery:
    """The query with what a projection wants of the number of matches: its order, and its condition.

    Raises:
        Unsupported: it wants more.
    """
    of = number.value.of if isinstance(number.value, Aggregate) else None
    column, least = Variable(number.name), 1
    match project.where:
        case None:
            pass
        case Compare(left, Comparison.AT_LEAST, Constant(int() as least)) if left == column and query.nodes:
            if isinstance(least, bool):
                raise _refused("a comparison of numbers with truth")
        case _:
            raise _refused("such a condition on the number of matches")
    if project.order not in ((), (Order(column, descending=True),)):
        raise _refused("such an order")
    if query.keys and (project.order or project.where is not None):
        raise _refused("an order or a least number of groups of values")
    counted = of.name if isinstance(of, Variable) else None
    return replace(query, counted=counted, largest_first=bool(project.order), least=max(least, 1))


def _refused(what: str) -> Unsupported:
    return Unsupported(f"this store matches single patterns, not {what}", next_step="Walk with search or get_triples.")
