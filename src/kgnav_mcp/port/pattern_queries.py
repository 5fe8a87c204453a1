"""Patterns of plans, as a store takes them that matches single patterns: the query, its matches, and its conditions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from kgnav_mcp.errors import Unsupported
from kgnav_mcp.model import Cell, Count, Entity, Node, PlanPage, PlanRow, Stop
from kgnav_mcp.plan import (
    Aggregate,
    AggregateFunction,
    Call,
    Column,
    Compare,
    Comparison,
    ComparisonChain,
    Connective,
    Constant,
    EdgePattern,
    Exists,
    Expression,
    Function,
    HasLabel,
    Joined,
    ListOf,
    Match,
    Not,
    Order,
    PathKind,
    Pipeline,
    Plan,
    Project,
    Property,
    Scalar,
    Variable,
)
from kgnav_mcp.plan.expressions import MIRRORED
from kgnav_mcp.plan.walking import conjunction, conjuncts, id_condition, node_patterns

_OF_BOUNDS = MIRRORED.keys() - {Comparison.UNEQUAL}
_MEASURES = frozenset(
    (
        AggregateFunction.COUNT,
        AggregateFunction.SUM,
        AggregateFunction.AVERAGE,
        AggregateFunction.MINIMUM,
        AggregateFunction.MAXIMUM,
    )
)
EXACT_BELOW = 10**15
"""Integers below this are exact also in stores that calculate with floating-point numbers of 15 digits."""


@dataclass(frozen=True, slots=True)
class QualifierCondition:
    """The condition that one of the values of an edge's property equals one of some constants, or a node's id."""

    owned: Property
    values: tuple[Scalar, ...] = ()
    """The constants: texts and numbers."""
    node: str | None = None
    """The variable of the node; if it is set, there are no constants."""


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
    given: tuple[str, ...] = ()
    """Nodes of the pattern or its conditions whose ids are known."""
    rows: tuple[tuple[str, ...], ...] = ((),)
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
    exact: bool = False
    """Whether all of the qualifiers have to be applied exactly. Each has constants."""
    properties: tuple[tuple[str, str], ...] = ()
    """Some of `nodes`, each with a relation whose far ends are wanted as values of the match, if the store can."""
    keys: tuple[GroupKey, ...] = ()
    """What matches are grouped by, in place of `nodes`: properties of nodes with one relation, labels, `type(edge)`.

    A store refuses the query if a node of a match has several values of a key, or one that is a node.
    """
    list_keys: bool = False
    """Whether labels, and several values of a property, are keys, too.

    They are lists: of distinct values, numbers first, then texts, then booleans.
    """
    measures: tuple[Aggregate, ...] = ()
    """Aggregates of one property of a node (`is_measure`), wanted of each group in place of its number."""

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


def pattern_query(plan: Plan, *, with_keys: bool = False, with_qualifiers: bool = False) -> PatternQuery:
    """The query of a plan that is a single pattern and returns its nodes, each combination once, or with its number.

    `with_keys`: the store can also group matches by values. `with_qualifiers`: it can also apply conditions on
    properties of edges exactly.

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
    if not is_plain(match, variables, qualifiers) or not all(
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
        if parsed is not None and parsed.owned.owner in edges and (parsed.values if exact else parsed.node in nodes)
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
            case Property(owner, _, (_,)) as key if owner in nodes:
                keys.append(key)
            case Call(Function.TYPE, (Variable(name),)) as key if name in edges:
                keys.append(key)
            case Call(Function.LABELS, (Variable(name),)) as key if name in nodes:
                keys.append(key)
            case _:
                raise _refused("such a value")
    one_property = len({aggregate.of for aggregate in of}) == 1 and all(map(is_measure, of))
    is_of_node = one_property and isinstance(of[0].of, Property) and of[0].of.owner in nodes
    return tuple(keys), tuple(of) if is_of_node else ()


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


def is_connected(match: Match, bound: Collection[str], qualifiers: Sequence[QualifierCondition] = ()) -> bool:
    """Whether a pattern is connected by its edges and the given nodes, or is a single node; and its edges are its own.

    A disconnected pattern would be a product of whole sets. `qualifiers` connect an edge with a node, too.
    """
    variables = [edge.variable for edge in match.edges]
    if len({*variables}) < len(variables):
        return False
    if any(name in bound for name in (*variables, *(path.variable for path in match.paths))):
        return False
    nodes = node_patterns(match)
    if not match.edges:
        return len(nodes) == 1 and not any(name in bound for name in nodes)
    ties = [{edge.source, edge.target} for edge in match.edges]
    for edge, tie in zip(match.edges, ties, strict=True):
        tie |= {
            condition.node
            for condition in qualifiers
            if condition.owned.owner == edge.variable and condition.node is not None
        }
    joined = {name for name in nodes if name in bound} or set(ties[0])
    for _ in ties:
        for tie in ties:
            if not joined.isdisjoint(tie):
                joined |= tie
    return joined >= nodes.keys()


def is_plain(match: Match, bound: Collection[str], qualifiers: Sequence[QualifierCondition] = ()) -> bool:
    """Whether a pattern has the form that `PatternQuery` states."""
    if match.paths or not all(map(_is_edge_or_reachability, match.edges)):
        return False
    if not match.edges:
        nodes = node_patterns(match)
        equal = filter(None, map(equal_constants, conjuncts(match.where)))
        selected = all(node.labels for node in nodes.values()) or any(owned.owner in nodes for owned, _ in equal)
        return selected and is_connected(match, bound)
    if all(edge.path for edge in match.edges) and not _is_anchored(match, bound):
        return False
    return is_connected(match, bound, qualifiers)


def _is_anchored(match: Match, bound: Collection[str]) -> bool:
    """Whether an id, a label or a given node restricts an end of the paths: otherwise every node reaches itself."""
    ids = any(id_condition(condition) for condition in conjuncts(match.where))
    return ids or any(node.labels or node.variable in bound for node in match.nodes)


def _is_edge_or_reachability(edge: EdgePattern) -> bool:
    """Whether it is a single edge, or a path of unbounded length of which only the ends are wanted."""
    return edge.path is None or (edge.path.kind is PathKind.REACHABLE and edge.path.longest is None)


def can_push(condition: Expression, bound: frozenset[str], *, numbers: bool = True, texts: bool = True) -> bool:
    """Whether `PatternQuery` allows a condition, whose nodes have to be `bound`; or one without `numbers` or `texts`.

    It combines by AND, OR and NOT conditions on what a node is (`id_condition`, `a = b`, `a <> b`, HasLabel) and
    Exists, whose pattern follows the same rules; and conditions of `number_condition` and `equal_constants` by AND and
    OR only: a comparison with a missing value is not true, and neither is its negation.
    """
    push = partial(can_push, numbers=numbers, texts=texts)
    match condition:
        case Joined(Connective.AND | Connective.OR, parts):
            return all(push(part, bound) for part in parts)
        case Not(opposite):
            takes = push if isinstance(opposite, Exists) else partial(can_push, numbers=False, texts=False)
            return takes(opposite, bound)
        case Compare(Variable(first), Comparison.EQUAL | Comparison.UNEQUAL, Variable(second)):
            return {first, second} <= bound
        case HasLabel(variable):
            return variable in bound
        case Exists(match):
            edges = {edge.variable for edge in match.edges}
            inner = bound.union(node_patterns(match))
            plain = is_plain(match, bound) and not edges & bound
            return plain and all(push(conjunct, inner) for conjunct in conjuncts(match.where))
        case _:
            return _node_of(condition, numbers=numbers, texts=texts) in bound


def _node_of(condition: Expression, *, numbers: bool, texts: bool) -> str | None:
    """The node of a condition on its id, or that compares its property with numbers or texts; None for any other."""
    if (ids := id_condition(condition)) is not None:
        return ids[0]
    compared = number_condition(condition) if numbers else None
    if compared is None and texts:
        compared = equal_constants(condition)
    return None if compared is None else compared[0].owner


Bound = tuple[Comparison, float | tuple[float, ...]]
"""A comparison with a number on its right, or that a value is in a list of numbers."""


def number_condition(condition: Expression) -> tuple[Property, tuple[Bound, ...]] | None:
    """The property and the bounds of a condition that compares it with numbers; None for any other condition.

    One value of the property has to be within all of the bounds: two of a chain, otherwise one.
    """
    match condition:
        case Compare(Property() as owned, Comparison.IN, ListOf(items)):
            numbers = tuple(number for item in items if (number := _number_in(item)) is not None)
            return (
                (owned, ((Comparison.IN, numbers),)) if owned.ids and numbers and len(numbers) == len(items) else None
            )
        case Compare():
            links = (condition,)
        case ComparisonChain((Constant(), Property(), Constant())):
            links = condition.links
        case _:
            return None
    bounds = [_bound(link) for link in links]
    known_bounds = [bound for bound in bounds if bound is not None]
    if len(known_bounds) < len(bounds):
        return None
    return known_bounds[0][0], tuple(bound for _, bound in known_bounds)


def _bound(link: Compare) -> tuple[Property, Bound] | None:
    """The property of a comparison with a number, and its bound."""
    match link:
        case Compare(Property() as owned, comparison, Constant() as constant) if comparison in _OF_BOUNDS:
            pass
        case Compare(Constant() as constant, comparison, Property() as owned) if comparison in _OF_BOUNDS:
            comparison = MIRRORED[comparison]
        case _:
            return None
    number = _number_in(constant)
    return None if number is None or not owned.ids else (owned, (comparison, number))


def _number_in(expression: Expression) -> float | None:
    """A constant number that stores compare exactly; None for anything else."""
    match expression:
        case Constant(bool()):
            return None
        case Constant(int() | float() as value) if abs(value) < EXACT_BELOW:
            return float(value)
        case _:
            return None


def equal_constants(condition: Expression) -> tuple[Property, tuple[float, ...] | tuple[str, ...]] | None:
    """The property and the numbers, or the texts, of a condition that it equals one of them; None for any other."""
    match number_condition(condition):
        case (owned, ((Comparison.EQUAL, float() as number),)):
            return owned, (number,)
        case (owned, ((Comparison.IN, tuple() as numbers),)):
            return owned, numbers
        case _:
            owned, operands = _equality(condition) or (None, ())
    constants = [operand.value for operand in operands if isinstance(operand, Constant)]
    texts = tuple(constant for constant in constants if isinstance(constant, str))
    return (owned, texts) if owned is not None and owned.ids and 0 < len(texts) == len(operands) else None


def _equality(condition: Expression) -> tuple[Property, Sequence[Expression]] | None:
    """The property and the expressions of a condition that it equals one of them; None for any other condition."""
    match condition:
        case Compare(Property() as owned, Comparison.EQUAL, operand) | Compare(
            operand, Comparison.EQUAL, Property() as owned
        ):
            return owned, (operand,)
        case Compare(Property() as owned, Comparison.IN, ListOf(operands)):
            return owned, operands
        case _:
            return None


def qualifier_condition(condition: Expression) -> QualifierCondition | None:
    """The constants or the node that a property is equal to; None for any other condition.

    That the property is an edge's, the caller has checked.
    """
    owned, values = _equality(condition) or (None, ())
    if owned is None:
        return None
    match values:
        case (Call(Function.ID, (Variable(name),)),):
            return QualifierCondition(owned, node=name)
        case _:
            constants = [operand.value for operand in values if isinstance(operand, Constant)]
    if len(constants) < len(values) or any(isinstance(constant, bool) for constant in constants):
        return None
    return QualifierCondition(owned, tuple(constant for constant in constants if constant is not None))
