"""Functions and arithmetic of plans as Cypher's, where those give the same result and never fail."""

from __future__ import annotations

from collections.abc import Sequence

from kgnav_mcp.adapters.cypher.plans import queries
from kgnav_mcp.adapters.cypher.plans.context import QueryContext
from kgnav_mcp.adapters.cypher.plans.kinds import (
    BOOLEAN,
    DATES,
    NULL,
    NUMBERS,
    TEXT,
    Kind,
    Listed,
    OfEdge,
    OfNode,
    OfPath,
    Single,
    Typed,
    common_kind,
    unsupported,
)
from kgnav_mcp.plan import ArithmeticOperator, Function

_WHOLE, _FRACTION = frozenset(("INTEGER",)), frozenset(("FLOAT",))
_SIMPLE = {
    Function.LOWER: (TEXT, TEXT),
    Function.UPPER: (TEXT, TEXT),
    Function.TEXT: (TEXT | _WHOLE | BOOLEAN, TEXT),
    Function.NUMBER: (NUMBERS, _FRACTION),
    Function.TO_INTEGER: (_WHOLE, _WHOLE),
    Function.ROUND: (NUMBERS, _FRACTION),
    Function.FLOOR: (NUMBERS, _FRACTION),
    Function.CEILING: (NUMBERS, _FRACTION),
}
"""Functions of one value: the types that they accept, and those that they return."""


def called(context: QueryContext, function: Function, arguments: Sequence[Typed]) -> Typed:  # noqa: C901, PLR0911, PLR0912 - one each
    """A function call.

    Raises:
        Unsupported: Cypher's function behaves differently for such values.
    """
    if function is Function.COALESCE:
        kind = common_kind(each.kind for each in arguments)
        return Typed(f"coalesce({', '.join(each.text for each in arguments)})", kind)
    of, *others = arguments
    if others:
        raise unsupported(f"{function} with several arguments")
    if of.kind == NULL:
        return Typed("null", NULL)
    match function, of.kind:
        case Function.ID, OfNode():
            return Typed(context.printed_id(of.text), Single(TEXT))
        case Function.LABELS, OfNode():
            member = context.new_variable()
            sorted_labels = context.builder.collected(
                queries.SORTED, list=context.fill("{labels({value})}", value=of.text), member=member, key=member
            )
            return Typed(f"CASE WHEN {of.text} IS NOT NULL THEN {sorted_labels} END", Listed(Single(TEXT)))
        case Function.TYPE, OfEdge():
            return Typed(context.fill("{relationship_type({value})}", value=of.text), Single(TEXT))
        case ((Function.START | Function.END), OfEdge()):
            return Typed(f"{function}({of.text})", OfNode())
        case Function.LENGTH, OfPath():
            return Typed(f"length({of.text})", Single(_WHOLE))
        case Function.NODES, OfPath():
            return Typed(f"nodes({of.text})", Listed(OfNode()))
        case Function.EDGES, OfPath(types):
            return Typed(f"relationships({of.text})", Listed(OfEdge(types)))
        case Function.SIZE, Listed():
            return Typed(f"size({of.text})", Single(_WHOLE))
        case ((Function.HEAD | Function.LAST), Listed(member)):
            return Typed(f"{function}({of.text})", member)
        case Function.YEAR, Single(types) if types == DATES:
            return Typed(f"date({of.text}).year", Single(_WHOLE))
        case Function.ABS, Single(types) if types <= NUMBERS:
            return Typed(f"abs({of.text})", of.kind)
        case _, Single(types) if function in _SIMPLE and types <= _SIMPLE[function][0]:
            return Typed(f"{function}({of.text})", Single(_SIMPLE[function][1]))
        case _:
            raise unsupported(f"{function} of such a value")


def calculated(context: QueryContext, left: Typed, operator: ArithmeticOperator, right: Typed) -> Typed:
    """An arithmetic expression.

    Raises:
        Unsupported: Cypher would fail, or print a number in another way.
    """
    if NULL in {left.kind, right.kind}:
        return Typed("null", NULL)
    text = f"({left.text} {operator} {right.text})"
    one, other = _types(left.kind), _types(right.kind)
    if operator is ArithmeticOperator.ADD and (
        (one <= TEXT and other <= TEXT | _WHOLE) or (other <= TEXT and one <= TEXT | _WHOLE)
    ):
        return Typed(text, Single(TEXT))
    if not one <= NUMBERS or not other <= NUMBERS or operator is ArithmeticOperator.POWER:
        raise unsupported("arithmetic with what may be no numbers")
    if operator in {ArithmeticOperator.DIVIDE, ArithmeticOperator.REMAINDER} and not _FRACTION & {*one, *other}:
        text = context.fill(queries.QUOTIENT, left=left.text, operator=operator, right=right.text)
    elif operator in {ArithmeticOperator.DIVIDE, ArithmeticOperator.REMAINDER} and not (
        one <= _FRACTION or other <= _FRACTION
    ):
        raise unsupported("a quotient of numbers that may be whole or not")
    return Typed(text, Single(_FRACTION if one <= _FRACTION or other <= _FRACTION else one | other))


def _types(kind: Kind) -> frozenset[str]:
    if not isinstance(kind, Single):
        raise unsupported("arithmetic with nodes, edges or lists")
    return kind.types
