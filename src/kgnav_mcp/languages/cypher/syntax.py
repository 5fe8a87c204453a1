"""Parses the text of a plan in Cypher to a syntax tree, with the parser library lark."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, cast

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from kgnav_mcp.clipping import echoed
from kgnav_mcp.errors import InvalidPlan
from kgnav_mcp.languages.cypher.token_types import TokenTyper
from kgnav_mcp.plan import Plan, PlanProblem

_CLAUSES: Final = frozenset({"MATCH", "OPTIONAL", "UNWIND", "WITH", "RETURN", "FILTER", "LET", "FOR"})
_VALUE_TOKENS: Final = (
    "STRING INTEGER FLOAT TRUE FALSE NULL WORD QUOTED PARAMETER LPAR LSQB LBRACE NODE_OPEN CASE EXISTS "
    "COUNT COLLECT PATH_FUNCTION NOT MINUS PLUS"
)
_VALUES: Final = frozenset(_VALUE_TOKENS.split())
_OPERATOR_TOKENS: Final = (
    "PLUS MINUS STAR SLASH PERCENT CIRCUMFLEX JOIN NOT_EQUAL EQUAL LESSTHAN MORETHAN AT_MOST AT_LEAST "
    "REGEX IN CONTAINS STARTS ENDS IS AND OR XOR NOT DOT LSQB COLON"
)
_OPERATORS: Final = frozenset(_OPERATOR_TOKENS.split())
_CLOSING: Final = frozenset({"RPAR", "RSQB", "RBRACE"})
_RARE: Final = frozenset({"PARAMETER", "BANG", "AMPERSAND", "SEMICOLON", "PATH_FUNCTION", "ANY", "ALL", "SHORTEST"})
_ANY_CLAUSE: Final = "a clause such as MATCH, WITH or RETURN"
_TOKEN_TEXTS: Final = {
    "LPAR": "(",
    "NODE_OPEN": "(",
    "RPAR": ")",
    "LSQB": "[",
    "RSQB": "]",
    "LBRACE": "{",
    "RBRACE": "}",
    "COLON": ":",
    "COMMA": ",",
    "DOT": ".",
    "DOTS": "..",
    "VBAR": "|",
    "AMPERSAND": "&",
    "BANG": "!",
    "STAR": "*",
    "EQUAL": "=",
    "LESSTHAN": "<",
    "MORETHAN": ">",
    "MINUS": "-",
    "PLUS": "+",
    "SEMICOLON": ";",
    "$END": "the end",
    "OFFSET": "SKIP",
    "INTEGER": "a whole number",
}

_WRITES: Final = "plans are read-only"
_LEFT_OUT: Final = {
    **dict.fromkeys(("CREATE", "INSERT", "MERGE", "SET", "DELETE", "DETACH", "NODETACH", "REMOVE", "FOREACH"), _WRITES),
    **dict.fromkeys(("DROP", "ALTER", "GRANT", "DENY", "REVOKE", "TERMINATE", "START", "COMMIT", "ROLLBACK"), _WRITES),
    "CALL": "procedures and subqueries in CALL are not supported",
    "YIELD": "procedures are not supported",
    "LOAD": "plans cannot load files",
    "USE": "choose the graph with the tool's argument `graph`",
    "USING": "hints to the store are not supported",
    "SHOW": "use describe_graph()",
    "EXPLAIN": "check_plan estimates the cost of a plan",
    "PROFILE": "check_plan estimates the cost of a plan",
    "NEXT": "WITH joins what comes before and after",
    "FINISH": "use RETURN at the end",
    "SELECT": "use RETURN at the end",
    "EXCEPT": "only UNION is supported",
    "INTERSECT": "only UNION is supported",
}
"""Clauses of Cypher and GQL that plans do not support, with the reasons."""
_INSTEAD: Final = {
    "LIKE": ("n.name CONTAINS 'text'", "n.name STARTS WITH 'text'"),
    "ILIKE": ("toLower(n.name) CONTAINS 'text'",),
    "BETWEEN": ("1 <= n.value <= 3",),
    "GROUP": ("RETURN a, count(*): the columns without an aggregate are the grouping keys",),
    "HAVING": ("WITH a, count(*) AS c WHERE c > 1",),
    "==": ("n.value = 1",),
    "=": ("n.value = 1",),
    "&": ("AND",),
    "&&": ("AND",),
    "!": ("NOT",),
}
"""Words of other languages, and their equivalents in Cypher."""


def syntax_problem(text: str, error: UnexpectedInput) -> PlanProblem:
    """The first syntax error of a text, with its place."""
    match error:
        case UnexpectedCharacters():
            char = cast("str", error.char)  # pyright: ignore[reportUnknownMemberType]
            return PlanProblem(_place(error.line, error.column), _unknown_character(char))
        case UnexpectedToken():
            return _unexpected_token(text, error)
        case _:
            return PlanProblem("the plan", "not valid Cypher")


def _place(line: int, column: int) -> str:
    return f"line {line}, column {column}"


def _unknown_character(char: str) -> str:
    if char in "'\"`":
        return f"missing closing {char}"
    return f"{echoed(char)} is not valid here"


def _unexpected_token(text: str, error: UnexpectedToken) -> PlanProblem:
    token = cast("Token", error.token)
    accepted = frozenset(error.accepts)
    if token.type == "$END":
        lines = text.rstrip().splitlines() or [""]
        return PlanProblem(
            _place(len(lines), len(lines[-1]) + 1), f"unexpected end of text; expected {_in_words(accepted)}"
        )
    place, word = _place(token.line or 1, token.column or 1), str(token).upper()
    if token.type == "WORD" and word in _LEFT_OUT and accepted & {"MATCH", "RETURN"}:
        return PlanProblem(place, f"{word}: {_LEFT_OUT[word]}")
    reason = f"{_echo(token)} is unexpected here; expected {_in_words(accepted)}"
    alternatives = _INSTEAD.get(word, ())
    if accepted == frozenset({"EQUAL"}) and word in {"-", "<"}:
        alternatives = ("(a)-[:R]->(b): nodes are written in parentheses",)
    if "WORD" in accepted and token.type != "WORD" and token[:1].isalpha():
        alternatives = (f"`{token}` in backticks for a name", *alternatives)
    return PlanProblem(place, reason, alternatives)


def _echo(token: Token) -> str:
    return echoed(str(token))


def _in_words(accepted: frozenset[str]) -> str:
    """The accepted tokens in words."""
    words: list[str] = []
    left = set(accepted)
    if {"STRING", "WORD"} <= left:
        words.append("a value")
        left -= _VALUES
    elif "WORD" in left:
        words.append("a name")
        left -= {"WORD", "QUOTED"}
    if {"SLASH", "PERCENT"} <= left:
        words.append("an operator")
        left -= _OPERATORS
    if len(left & _CLAUSES) > 3:
        words.append(_ANY_CLAUSE)
        left -= _CLAUSES
    closing = sorted(left & _CLOSING)
    words = [_TOKEN_TEXTS[token] for token in closing] + words
    words += sorted(_TOKEN_TEXTS.get(token, token) for token in left - _CLOSING - _RARE)
    words = list(dict.fromkeys(words))
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]


Node = Tree[Token]

LONGEST_TEXT: Final = 20_000
"""Maximum characters of a plan."""
_TABLES: Final = "cypher.tables"
MAX_DEPTH: Final = 60
"""Maximum levels of a plan's syntax tree, so that later code may walk it recursively."""


def invalid_plan(problems: Sequence[PlanProblem], plan: Plan | None = None) -> InvalidPlan:
    """The error for a text that is not a valid plan, with the part of the plan that could be read."""
    return InvalidPlan(problems, plan, next_step="Correct this and send the whole plan again.")


def parse_tree(text: str, cache: Path | None = None) -> Node:
    """The syntax tree of a text. `cache` is a folder for the parser's tables.

    Raises:
        InvalidPlan: it is too long, too deeply nested, or not read-only Cypher.
    """
    if len(text) > LONGEST_TEXT:
        reason = f"it has {len(text):,} characters; the limit is {LONGEST_TEXT:,}"
        raise invalid_plan([PlanProblem("the plan", reason)])
    try:
        tree = _parser(cache).parse(text)  # pyright: ignore[reportUnknownMemberType]
    except UnexpectedInput as error:
        raise invalid_plan([syntax_problem(text, error)]) from error
    _check_depth(tree)
    return tree


@functools.cache
def _parser(cache: Path | None) -> Lark:
    """The parser. Computing its tables takes 0.7 s, reading cached ones 0.02 s."""
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
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in node.children if isinstance(child, Tree)]
        if not level:
            return
    deepest = level[0].meta
    place = f"line {deepest.line}, column {deepest.column}"
    raise invalid_plan([PlanProblem(place, f"it is nested more than {MAX_DEPTH} levels deep")])
