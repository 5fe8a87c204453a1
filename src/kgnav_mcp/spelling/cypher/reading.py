"""What all parts of the reader share: the text, the problems found so far, and how names and texts are written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final

from lark import Token, Tree

from kgnav_mcp.plan import UNNAMED, Constant, Expression, PlanProblem
from kgnav_mcp.spelling.cypher.syntax import Node

NOTHING: Final = Constant(None)
"""Stands for what could not be read, so that the rest can be."""

Scope = Mapping[str, str]
"""The variables that a clause may use. Each stands for a "node", "edge", "path", "literal" or "value", any of these."""


@dataclass(frozen=True, slots=True)
class Context:
    """Where an expression stands: the variables it may use, and why there can be no aggregate, if so."""

    scope: Scope
    no_aggregate: str | None = "an aggregate stands in WITH or RETURN"


MOST_PROBLEMS: Final = 20
"""Problems that are told of one plan."""

_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_ESCAPED: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)


@dataclass(slots=True)
class Reading:
    """One text as it is read."""

    text: str
    clause: str = "the plan"
    problems: list[PlanProblem] = field(default_factory=list[PlanProblem])
    unknown: set[str] = field(default_factory=set[str])
    """Names that nothing has; each is told once."""
    elements: int = 0
    """Nodes and edges so far."""
    _unnamed: int = 0

    def refuse(self, where: Node | Token, reason: str, *alternatives: str) -> Expression:
        """Tells a problem at this place of the text; gives what can stand there meanwhile."""
        line, column = (where.line, where.column) if isinstance(where, Token) else (where.meta.line, where.meta.column)
        problem = PlanProblem(f"{self.clause}, line {line}, column {column}", reason, alternatives)
        if problem not in self.problems and len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)
        return NOTHING

    def unnamed(self) -> str:
        """A variable for a node or an edge without one, different each time."""
        self._unnamed += 1
        return f"{UNNAMED}{self._unnamed}"

    def written(self, node: Node) -> str:
        """The text of a part."""
        return self.text[node.meta.start_pos : node.meta.end_pos]


def trees(node: Node, *kinds: str) -> Iterator[Node]:
    """The parts of a part, all or those of some kinds."""
    return (child for child in node.children if isinstance(child, Tree) and (not kinds or child.data in kinds))


def tree(node: Node, *kinds: str) -> Node | None:
    """The first part of one of these kinds."""
    return next(trees(node, *kinds), None)


def has(node: Node, token: str) -> bool:
    """Whether a word of this type stands in a part."""
    return any(isinstance(child, Token) and child.type == token for child in node.children)


def tokens(node: Node, *kinds: str) -> Iterator[Token]:
    """The words in a part, all or those of some types."""
    return (child for child in node.children if isinstance(child, Token) and (not kinds or child.type in kinds))


def name_of(node: Node) -> str:
    """The name that a `name` is, or those of a label with dots; without backticks."""
    if node.data != "name":
        return ".".join(name_of(part) for part in trees(node, "name"))
    (word,) = node.children
    text = str(word)
    return text[1:-1].replace("``", "`") if text.startswith("`") else text


def text_value(written: str) -> str:
    """What a text in quotes says, its escapes read."""
    return _ESCAPED.sub(_unescaped, written[1:-1])


def _unescaped(escape: re.Match[str]) -> str:
    if code := escape[1] or escape[2]:
        return chr(int(code, 16)) if int(code, 16) < 0x110000 else "\ufffd"
    return _ESCAPES.get(escape[3], escape[3])


def nearest(name: str, known: Iterator[str] | Mapping[str, object]) -> tuple[str, ...]:
    """The names most like this one, or all where none is and they are few."""
    names = list(known)
    close = get_close_matches(name.casefold(), [each.casefold() for each in names], 3, 0.6)
    return tuple(each for match in close for each in names if each.casefold() == match) or tuple(sorted(names)[:8])
