"""Finds the meaning of words and brackets in a Cypher text from the tokens around them.

Cypher reserves few words: `:Order`, `n.limit` and `{count: 1}` are names. And a round bracket inside an expression
opens a node only if an edge follows. This module decides both from neighbouring tokens, so that the grammar stays LALR,
which is parsed in linear time and without recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from lark import Token

_NAMES: Final = frozenset({"WORD", "QUOTED"})
_OPENING: Final = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE"}
_RESERVED: Final = (
    "MATCH OPTIONAL WHERE RETURN WITH UNWIND AS DISTINCT LIMIT UNION OR XOR AND NOT IN CONTAINS STARTS "
    "ENDS IS NULL TRUE FALSE"
)
_ALWAYS_KEYWORDS: Final = {word: word for word in _RESERVED.split()} | {
    "ASC": "ASCENDING",
    "ASCENDING": "ASCENDING",
    "DESC": "DESCENDING",
    "DESCENDING": "DESCENDING",
}
"""Keywords everywhere, except where only a name is possible."""
_INSIDE_CASE: Final = frozenset({"WHEN", "THEN", "ELSE", "END"})
_BEFORE_BRACE: Final = frozenset({"EXISTS", "COUNT", "COLLECT"})
_ELEMENTS: Final = frozenset({"ELEMENTS", "ELEMENT", "RELATIONSHIPS", "EDGES"})
_MODES: Final = frozenset({"REPEATABLE", "DIFFERENT"})
_VALUES: Final = frozenset({"NULL", "TRUE", "FALSE", "NOT"})
_BEGIN_CASE: Final = _NAMES | {"STRING", "INTEGER", "FLOAT", "PARAMETER", "LPAR", "LSQB", "MINUS", "PLUS"}
"""Types of tokens after the word CASE, of which no label is followed."""


_Following = Callable[["list[Token]"], bool]


def _one_of(*types_or_words: str) -> _Following:
    return lambda rest: rest[0].type in types_or_words or rest[0].upper() in types_or_words


def _none_of(*types: str) -> _Following:
    return lambda rest: rest[0].type not in types


def _name_and(word: str) -> _Following:
    return lambda rest: rest[0].type in _NAMES and len(rest) > 1 and rest[1].upper() == word


_KEYWORDS_BEFORE: Final[dict[str, tuple[str, _Following]]] = {
    **{word: (word, _one_of("LBRACE")) for word in _BEFORE_BRACE},
    **{word: ("PATH_FUNCTION", _one_of("LPAR")) for word in ("SHORTESTPATH", "ALLSHORTESTPATHS", "DISTANCE")},
    **{word: ("OFFSET", _none_of("RPAR", "COMMA", "EQUAL")) for word in ("SKIP", "OFFSET")},
    **{word: (word, _one_of("SHORTEST")) for word in ("ANY", "ALL")},
    **{word: (word, _one_of(*_ELEMENTS)) for word in _MODES},
    "ORDER": ("ORDER", _one_of("BY")),
    "FOR": ("FOR", _name_and("IN")),
    "LET": ("LET", _name_and("=")),
    "FILTER": ("FILTER", _one_of(*_NAMES, "NOT")),
    "CASE": ("CASE", _none_of("RPAR", "COMMA", "RSQB")),
    "SHORTEST": ("SHORTEST", _one_of("INTEGER")),
}
"""Words that are keywords only if the following tokens fit."""


KEYWORDS: Final = frozenset({*_ALWAYS_KEYWORDS, *_KEYWORDS_BEFORE, *_INSIDE_CASE, *_ELEMENTS, "BY", "ALL"})
"""Every word that is a keyword somewhere."""


class TokenTyper:
    """Gives each token its type in the grammar (a `postlex` of lark)."""

    always_accept = ()

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        """The same tokens with the types of the grammar."""
        tokens = list(stream)
        closing = _closing_brackets(tokens)
        braces: list[bool] = []  # for each open bracket: whether it is a brace
        map_colon = False
        cases = 0
        for index, token in enumerate(tokens):
            before = tokens[index - 1] if index else None
            after = tokens[index + 1] if index + 1 < len(tokens) else None
            kind = token.type
            if kind == "WORD":
                if _must_be_name(before, after, in_braces=bool(braces and braces[-1]), map_colon=map_colon, word=token):
                    kind = _case_or_subquery(token, before, tokens[index + 1 : index + 4])
                else:
                    kind = _keyword(tokens, index, cases)
                cases += (kind == "CASE") - (kind == "END")
            elif kind == "LPAR" and _opens_node(tokens, index, closing):
                kind = "NODE_OPEN"
            elif kind == "COLON":
                map_colon = _is_map_colon(tokens, index, in_braces=bool(braces and braces[-1]))
            if token.type in _OPENING:
                braces.append(token.type == "LBRACE")
            elif braces and token.type in _OPENING.values():
                braces.pop()
            if kind == "LBRACE" and before is not None and before.type in _BEFORE_BRACE:
                continue  # part of the keyword before it
            if kind != token.type:
                token.type = kind
            yield token


def _closing_brackets(tokens: list[Token]) -> dict[int, int]:
    """The index of the closing bracket by the index of the opening one."""
    closing: dict[int, int] = {}
    opening: list[int] = []
    for index, token in enumerate(tokens):
        if token.type in _OPENING:
            opening.append(index)
        elif opening and token.type == _OPENING[tokens[opening[-1]].type]:
            closing[opening.pop()] = index
    return closing


def _types(tokens: list[Token], index: int, count: int) -> tuple[str, ...]:
    return tuple(token.type for token in tokens[index : index + count])


def _opens_node(tokens: list[Token], index: int, closing: dict[int, int]) -> bool:
    """Whether the content of a bracket looks like a node, and an edge follows."""
    end = closing.get(index)
    if end is None or (index and tokens[index - 1].type in _NAMES):
        return False
    inside = tokens[index + 1]
    if inside.type in _NAMES:
        following = tokens[index + 2]
        if following.type not in {"COLON", "LBRACE", "RPAR"} and following.upper() not in {"WHERE", "IS"}:
            return False
    elif inside.type not in {"COLON", "LBRACE", "RPAR"}:
        return False
    first, second, third = (*_types(tokens, end + 1, 3), "", "", "")[:3]
    if first == "LESSTHAN":
        return second == "MINUS" and third in {"LSQB", "MINUS"}
    return first == "MINUS" and second in {"LSQB", "MINUS", "MORETHAN"}


def _is_map_colon(tokens: list[Token], index: int, *, in_braces: bool) -> bool:
    return in_braces and _types(tokens, index - 2, 1)[0] in {"LBRACE", "COMMA"} if index >= 2 else False


def _must_be_name(before: Token | None, after: Token | None, *, in_braces: bool, map_colon: bool, word: Token) -> bool:
    """Whether only a name is possible at this place, whatever the word is."""
    kind, following = before.type if before else "", after.type if after else ""
    if kind in {"DOT", "AS"} or following == "DOT":
        return True
    if kind == "BY":
        return word.upper() in _ALWAYS_KEYWORDS and word.upper() not in _VALUES
    if kind == "COLON":
        return not map_colon
    if kind in {"VBAR", "AMPERSAND", "BANG"}:
        return word.upper() not in _VALUES
    if kind in {"LPAR", "NODE_OPEN", "LSQB"}:
        return following == "COLON" or (following == "RPAR" and word.upper() not in _VALUES)
    return in_braces and following == "COLON" and kind in {"LBRACE", "COMMA"}


def _case_or_subquery(word: Token, before: Token | None, rest: list[Token]) -> str:
    """The type of a word after a vertical bar. `CASE x WHEN` and `COUNT { ... }` are values; `:A|CASE` has names."""
    if before is None or before.type != "VBAR" or not rest:
        return "WORD"
    keyword, following = word.upper(), rest[0]
    if keyword == "CASE":
        ends_pattern = following.upper() in _ALWAYS_KEYWORDS and following.upper() not in _VALUES
        return "CASE" if not ends_pattern and following.type in _BEGIN_CASE else "WORD"
    if keyword in _BEFORE_BRACE and following.type == "LBRACE":
        is_map = len(rest) > 2 and (rest[1].type in {"RBRACE", "PARAMETER"} or rest[2].type == "COLON")
        return "WORD" if is_map else keyword
    return "WORD"


def _keyword(tokens: list[Token], index: int, cases: int) -> str:
    """The type of a word that may be a keyword, by itself or by its neighbours."""
    word = tokens[index].upper()
    if word in _ALWAYS_KEYWORDS:
        return _ALWAYS_KEYWORDS[word]
    if cases and word in _INSIDE_CASE:
        return word
    before = tokens[index - 1] if index else None
    return _keyword_by_following(word, tokens[index + 1 : index + 3]) or _keyword_by_previous(word, before) or "WORD"


def _keyword_by_following(word: str, rest: list[Token]) -> str | None:
    """The type of a word by the tokens after it; None if they do not make it a keyword."""
    if word not in _KEYWORDS_BEFORE or not rest:
        return None
    kind, fits = _KEYWORDS_BEFORE[word]
    return kind if fits(rest) else None


def _keyword_by_previous(word: str, before: Token | None) -> str | None:
    """The type of a word by the token before it; None if it does not make it a keyword."""
    if before is None:
        return None
    if (word, before.type) in {("BY", "ORDER"), ("ALL", "UNION"), ("SHORTEST", "ANY"), ("SHORTEST", "ALL")}:
        return word
    return "ELEMENTS" if word in _ELEMENTS and before.type in _MODES else None
