"""Chooses the set of nodes at which the matching of a pattern starts: the smallest that labels and conditions allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgnav_mcp.adapters.embedded.plans.expressions import ExpressionCompiler
from kgnav_mcp.adapters.embedded.plans.names import Properties
from kgnav_mcp.adapters.embedded.queries import plans as pieces
from kgnav_mcp.plan import (
    Compare,
    Comparison,
    Constant,
    Expression,
    NodePattern,
    Property,
)
from kgnav_mcp.plan.walking import id_condition


@dataclass(frozen=True, slots=True)
class Start:
    """A set of nodes to start at: a table for FROM, with its estimated size."""

    rows: str
    size: int
    selective: bool = False
    """Whether it comes from ids or from a property's value."""
    condition: Expression | None = None
    """The condition that all nodes of the set meet already."""
    labels: tuple[str, ...] | None = None
    """The alternative labels, of which each node of the set has at least one."""


def start_of(compiler: ExpressionCompiler, node: NodePattern, conditions: Sequence[Expression]) -> Start:
    """Returns the smallest known set that contains all matches of a node pattern."""
    words, statement = compiler.words, compiler.statement
    best = Start(pieces.ALL_NODES, words.entities)
    for group in node.labels:
        entries = words.labels(group)
        size = sum(entry.size for entry in entries)
        if size <= best.size:
            numbers = [entry.id for entry in entries]
            rows = (
                pieces.NODES_OF_LABEL.replace("{label}", str(numbers[0]))
                if len(numbers) == 1
                else pieces.NODES_OF_LABELS.replace("{labels}", statement.numbers(numbers))
            )
            best = Start(rows, size, labels=group)
    for condition in conditions:
        found = _by_ids(compiler, condition, node.variable) or _by_value(compiler, condition, node.variable)
        if found is not None and found.size <= best.size:
            best = found
    return best


def _by_ids(compiler: ExpressionCompiler, condition: Expression, variable: str) -> Start | None:
    ids = id_condition(condition)
    if ids is None or ids[0] != variable:
        return None
    numbers = compiler.words.nodes(ids[1])
    rows = pieces.NODES_OF_IDS.replace("{numbers}", compiler.statement.numbers(numbers))
    return Start(rows, len(numbers), selective=True, condition=condition)


def _by_value(compiler: ExpressionCompiler, condition: Expression, variable: str) -> Start | None:
    match condition:
        case Compare(Property(owner, _, ids), Comparison.EQUAL, Constant(value) as constant) | Compare(
            Constant(value) as constant, Comparison.EQUAL, Property(owner, _, ids)
        ) if owner == variable and len(ids) == 1 and not isinstance(value, bool) and value is not None:
            pass
        case _:
            return None
    relations = compiler.words.properties(ids)
    if not relations:
        return Start(pieces.NODES_OF_IDS.replace("{numbers}", compiler.statement.numbers([])), 0)
    statement, words = compiler.statement, compiler.words
    term = compiler.value(constant)
    by_precision = term.may_be_date and words.may_have_dates(relations[0])
    beginnings = None if by_precision else words.beginnings(relations[0], value)
    if beginnings is None:
        return None
    rows = pieces.NODES_OF_VALUE.replace("{relation}", str(relations[0]))
    rows = rows.replace("{begins}", statement.among(pieces.BEGINNING, beginnings)).replace(
        "{test}", Properties(statement, words).equal("a", constant)
    )
    return Start(rows, compiler.words.size(relations[0], beginnings), selective=True, condition=condition)
