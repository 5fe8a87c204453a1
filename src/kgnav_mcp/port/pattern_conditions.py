"""Conditions of patterns that a store takes which matches single patterns, and the form of such a pattern."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

from kgnav_mcp.plan import (
    NAME,
    Call,
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
    PathKind,
    Property,
    Scalar,
    Variable,
)
from kgnav_mcp.plan.expressions import MIRRORED
from kgnav_mcp.plan.walking import conjuncts, id_condition, node_patterns

_OF_BOUNDS = MIRRORED.keys() - {Comparison.UNEQUAL}
EXACT_BELOW = 10**15
"""Integers below this are exact also in stores that calculate with floating-point numbers of 15 digits."""


@dataclass(frozen=True, slots=True)
class QualifierCondition:
    """The condition that one of the values of an edge's property equals one of some constants, or a node's id.

    With `unequal`, that it has values of which none equals the constant.
    """

    owned: Property
    values: tuple[Scalar, ...] = ()
    """The constants: texts and numbers."""
    node: str | None = None
    """The variable of the node; if it is set, there are no constants."""
    unequal: bool = False


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


def is_plain(
    match: Match,
    bound: Collection[str],
    qualifiers: Sequence[QualifierCondition] = (),
    texts: Sequence[tuple[Property, str]] = (),
) -> bool:
    """Whether a pattern has the form that `PatternQuery` states."""
    if match.paths or not all(map(_is_edge_or_reachability, match.edges)):
        return False
    if not match.edges:
        nodes = node_patterns(match)
        equal = filter(None, map(equal_constants, conjuncts(match.where)))
        by_value = any(owned.owner in nodes for owned, _ in (*equal, *texts))
        return (by_value or all(node.labels for node in nodes.values())) and is_connected(match, bound)
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
    Exists, whose pattern follows the same rules; and conditions of `number_condition`, `equal_constants` and
    `prefix_condition` by AND and OR only: a comparison with a missing value is not true, and neither is its negation.
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
        compared = equal_constants(condition) or prefix_condition(condition)
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


def prefix_condition(condition: Expression) -> tuple[Property, str] | None:
    """The property and the text of a condition that it is a text that starts so; None for any other condition."""
    match condition:
        case Compare(Property(_, _, (_,)) as owned, Comparison.STARTS_WITH, Constant(str() as text)):
            return owned, text
        case _:
            return None


_PARTS = frozenset((Comparison.CONTAINS, Comparison.STARTS_WITH, Comparison.ENDS_WITH))


def text_part(condition: Expression) -> tuple[Property, str] | None:
    """The property, and a text that must be a part of one of its values for a condition to be true; None for others.

    `name` without ids stands for the name that answers show.
    """
    match condition:
        case Compare(Property() as owned, comparison, Constant(str() as text)) if comparison in _PARTS:
            return (owned, text) if owned.ids or owned.name == NAME else None
        case _:
            return None


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
    """The constants or the node that a property is equal to, or the constant that it is not; None for any other.

    That the property is an edge's, the caller has checked.
    """
    unequal = isinstance(condition, Compare) and condition.comparison is Comparison.UNEQUAL
    owned, values = _equality(replace(condition, comparison=Comparison.EQUAL) if unequal else condition) or (None, ())
    if owned is None:
        return None
    match values:
        case (Call(Function.ID, (Variable(name),)),) if not unequal:
            return QualifierCondition(owned, node=name)
        case _:
            constants = [operand.value for operand in values if isinstance(operand, Constant)]
    if len(constants) < len(values) or any(isinstance(constant, bool) for constant in constants):
        return None
    known = tuple(constant for constant in constants if constant is not None)
    return QualifierCondition(owned, known, unequal=unequal) if known or not unequal else None
