"""What ORDER BY may name: columns of the projection, and variables before it."""

from __future__ import annotations

from kgnav_mcp.adapters.embedded.plans.statement import unsupported
from kgnav_mcp.plan import Aggregate, Constant, Expression, Project, Variable
from kgnav_mcp.plan.walking import rewritten, variables_of


def uses_only_aggregates(expression: Expression) -> bool:
    """Whether an expression uses variables only within aggregates."""
    inside = rewritten(expression, lambda part: Constant(None) if isinstance(part, Aggregate) else None)
    return not variables_of(inside)


def by_column(project: Project, expression: Expression) -> Expression:
    """Returns a sort expression with each part that is also a column replaced by that column."""
    column_of = {column.value: Variable(column.name) for column in project.columns}
    names = {column.name for column in project.columns}
    return rewritten(
        expression, lambda part: part if isinstance(part, Variable) and part.name in names else column_of.get(part)
    )


def without_columns(project: Project, expression: Expression) -> Expression:
    """Returns a sort expression with columns replaced by their expressions over the variables before the projection.

    Raises:
        Unsupported: it uses a column outside of an aggregate.
    """
    value_of = {column.name: column.value for column in project.columns}
    replacements = {Variable(name): value for name, value in value_of.items()}
    left = rewritten(expression, lambda part: Constant(None) if isinstance(part, Variable) else None)
    if not variables_of(left).isdisjoint(value_of):
        raise unsupported("an order by what belongs to a column, and sums")
    return rewritten(expression, lambda part: replacements.get(part) if isinstance(part, Variable) else None)
