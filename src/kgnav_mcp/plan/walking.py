"""The parts of expressions and patterns: what they are made of, and which variables they name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from kgnav_mcp.plan.clauses import EdgePattern, Match, NodePattern, PathKind, is_named
from kgnav_mcp.plan.expressions import (
    Aggregate,
    Arithmetic,
    Call,
    Compare,
    Connective,
    CountOf,
    During,
    Exists,
    Expression,
    HasLabel,
    IsNull,
    Joined,
    ListOf,
    Not,
    Property,
    Variable,
)


def parts_of(expression: Expression) -> tuple[Expression, ...]:  # noqa: PLR0911 - one for each kind
    """The expressions that one is directly made of; not those in a pattern of its own."""
    match expression:
        case Compare() | Arithmetic():
            return expression.left, expression.right
        case Joined():
            return expression.parts
        case Not():
            return (expression.condition,)
        case IsNull():
            return (expression.value,)
        case ListOf():
            return expression.items
        case Call():
            return expression.arguments
        case Aggregate():
            return () if expression.of is None else (expression.of,)
        case _:
            return ()


def all_parts(expression: Expression) -> Iterator[Expression]:
    """An expression and all that it is made of, from the outside in."""
    yield expression
    for part in parts_of(expression):
        yield from all_parts(part)


def rewritten(  # noqa: PLR0911 - one for each kind
    expression: Expression, change: Callable[[Expression], Expression | None]
) -> Expression:
    """An expression with other parts: `change` gives what stands in a part's place, or None to look inside it."""
    changed = change(expression)
    if changed is not None:
        return changed
    match expression:
        case Compare() | Arithmetic():
            return replace(
                expression, left=rewritten(expression.left, change), right=rewritten(expression.right, change)
            )
        case Joined():
            return replace(expression, parts=tuple(rewritten(part, change) for part in expression.parts))
        case Not():
            return Not(rewritten(expression.condition, change))
        case IsNull():
            return IsNull(rewritten(expression.value, change))
        case ListOf():
            return ListOf(tuple(rewritten(part, change) for part in expression.items))
        case Call():
            return replace(expression, arguments=tuple(rewritten(part, change) for part in expression.arguments))
        case Aggregate() if expression.of is not None:
            return replace(expression, of=rewritten(expression.of, change))
        case _:
            return expression


def variables_of(expression: Expression) -> frozenset[str]:
    """The variables that an expression names, those of its patterns included."""
    found: set[str] = set()
    for part in all_parts(expression):
        match part:
            case Variable():
                found.add(part.name)
            case Property():
                found.add(part.owner)
            case HasLabel():
                found.add(part.variable)
            case During():
                found.add(part.edge)
            case Exists() | CountOf():
                found |= variables_of_match(part.match)
            case _:
                pass
    return frozenset(found)


def variables_of_match(match: Match) -> frozenset[str]:
    """The variables that a pattern and its conditions name."""
    found = {node.variable for node in match.nodes}
    for edge in match.edges:
        found |= {edge.variable, edge.source, edge.target}
    for path in match.paths:
        found |= {path.variable, *path.elements}
    if match.where is not None:
        found |= variables_of(match.where)
    return frozenset(found)


def conjuncts(condition: Expression | None) -> tuple[Expression, ...]:
    """The conditions that must all hold for one to hold."""
    if condition is None:
        return ()
    if isinstance(condition, Joined) and condition.connective is Connective.AND:
        return tuple(one for part in condition.parts for one in conjuncts(part))
    return (condition,)


def part_text(part: NodePattern | EdgePattern) -> str:
    """A node or an edge of a pattern as Cypher has it, for sizes and errors: `(f:Film)`, `(f)-[:starred]->(a)`."""
    if isinstance(part, NodePattern):
        return f"({_shown(part.variable)}{''.join(':' + '|'.join(group) for group in part.labels)})"
    types = ":" + "|".join(part.relations) if part.relations else ""
    edge = f"[{types}{_length(part)}]" if types or part.path else "[]"
    return f"({_shown(part.source)})-{edge}-{'' if part.either else '>'}({_shown(part.target)})"


def _shown(variable: str) -> str:
    return variable if is_named(variable) else ""


def _length(edge: EdgePattern) -> str:
    if edge.path is None:
        return ""
    longest = "" if edge.path.longest is None else str(edge.path.longest)
    word = "" if edge.path.kind in {PathKind.TRAILS, PathKind.REACHABLE} else f" {edge.path.kind}"
    return f"*{edge.path.shortest}..{longest}{word}"
