"""Parses the text of a plan in Cypher to a syntax tree, with the parser library lark."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from lark import Lark, Token, Tree, UnexpectedInput

from kgnav_mcp.errors import InvalidPlan
from kgnav_mcp.languages.cypher.syntax_problems import syntax_problem
from kgnav_mcp.languages.cypher.token_types import TokenTyper
from kgnav_mcp.plan import Plan, PlanProblem

Node = Tree[Token]

LONGEST_TEXT: Final = 20_000
"""Most characters of a plan."""
_TABLES: Final = "cypher.tables"
DEEPEST: Final = 60
"""Most levels of a plan's syntax tree, so that later code may walk it recursively."""


def invalid_plan(problems: Sequence[PlanProblem], plan: Plan | None = None) -> InvalidPlan:
    """The error for a text that is not a valid plan, with the part of the plan that could be read."""
    return InvalidPlan(problems, plan, next_step="Mend this and send the whole plan again.")


def parse_tree(text: str, cache: Path | None = None) -> Node:
    """The syntax tree of a text. `cache` is a folder for the parser's tables.

    Raises:
        InvalidPlan: it is too long, too deeply nested, or not read-only Cypher.
    """
    if len(text) > LONGEST_TEXT:
        reason = f"it has {len(text):,} characters, {LONGEST_TEXT:,} are taken"
        raise invalid_plan([PlanProblem("the plan", reason)])
    try:
        tree = _parser(cache).parse(text)  # pyright: ignore[reportUnknownMemberType]
    except UnexpectedInput as error:
        raise invalid_plan([syntax_problem(text, error)]) from error
    _check_depth(tree)
    return tree


@functools.cache
def _parser(cache: Path | None) -> Lark:
    """The parser. To compute its tables takes 0.7 s, to read those that an earlier process has left 0.02 s."""
    if cache is not None:
        with suppress(OSError):
            cache.mkdir(parents=True, exist_ok=True)
    return Lark(
        Path(__file__).with_name("cypher.lark").read_text(encoding="utf-8"),
        parser="lalr",
        lexer="basic",
        postlex=TokenTyper(),
        propagate_positions=True,
        maybe_placeholders=False,
        # Tables of another grammar, library or Python are not used; without the folder there are none.
        cache=False if cache is None else str(cache / _TABLES),
    )


def _check_depth(tree: Node) -> None:
    level = [tree]
    for _ in range(DEEPEST):
        level = [child for node in level for child in node.children if isinstance(child, Tree)]
        if not level:
            return
    deepest = level[0].meta
    place = f"line {deepest.line}, column {deepest.column}"
    raise invalid_plan([PlanProblem(place, f"it is nested in more than {DEEPEST} levels")])
