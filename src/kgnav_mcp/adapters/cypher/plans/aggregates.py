"""Aggregate functions (count, sum, ...) of plans as Cypher's."""

from __future__ import annotations

from kgnav_mcp.adapters.cypher.plans import queries
from kgnav_mcp.adapters.cypher.plans.context import QueryContext
from kgnav_mcp.adapters.cypher.plans.kinds import (
    BOOLEAN,
    NUMBERS,
    SEVERAL,
    SORTED,
    TEXT,
    Listed,
    OfEdge,
    OfNode,
    Single,
    Typed,
    unsupported,
)
from kgnav_mcp.plan import Aggregate, AggregateFunction

_COUNT = Single(frozenset(("INTEGER",)))


def aggregated(context: QueryContext, one: Aggregate, of: Typed | None) -> Typed:
    """An aggregate of the argument `of` (None: of the rows) as Cypher's. A collected list is not sorted yet.

    Raises:
        Unsupported: Cypher aggregates such values in another way.
    """
    if of is None:
        if one.distinct or one.function is not AggregateFunction.COUNT:
            raise unsupported("a sum of the rows themselves")
        return Typed("count(*)", _COUNT)
    value = f"DISTINCT {of.text}" if one.distinct else of.text
    types = of.kind.types if isinstance(of.kind, Single) else None
    if types is not None and SEVERAL in types:
        raise unsupported("an aggregate of each of several values")
    simple = isinstance(of.kind, OfNode | OfEdge) or (types is not None and types <= SORTED)
    match one.function:
        case AggregateFunction.COUNT if simple or not one.distinct:
            return Typed(f"count({value})", _COUNT)
        case AggregateFunction.SUM if types is not None and types <= NUMBERS:
            return Typed(f"sum({value})", Single(types or NUMBERS))
        case AggregateFunction.AVERAGE if types is not None and types <= NUMBERS:
            return Typed(context.fill(queries.MEAN, value=value), Single(frozenset(("FLOAT",))))
        case AggregateFunction.MINIMUM | AggregateFunction.MAXIMUM if types is not None and any(
            types <= alike for alike in (NUMBERS, TEXT, BOOLEAN)
        ):
            return Typed(f"{one.function}({value})", of.kind)
        case AggregateFunction.COLLECT if simple:
            return Typed(f"collect({value})", Listed(of.kind))
        case _:
            raise unsupported(f"{one.function} of such values")


def sorted_list(context: QueryContext, one: Aggregate, found: Typed, *, in_order: bool) -> str | None:
    """The expression that sorts a collected list by its values; None if there is nothing to sort."""
    if one.function is not AggregateFunction.COLLECT or in_order or not isinstance(found.kind, Listed):
        return None
    member = context.new_variable()
    key = context.sort_key(Typed(member, found.kind.of))
    return context.builder.collected(queries.SORTED, list=found.text, member=member, key=key)
