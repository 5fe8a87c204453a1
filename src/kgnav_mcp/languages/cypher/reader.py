"""The state of reading one text (its problems, parameters, variables), and access to syntax trees."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import chain, count
from typing import Final

from lark import Token, Tree

from kgnav_mcp.languages.cypher.syntax import Node
from kgnav_mcp.plan import UNNAMED, Constant, Expression, ListOf, PlanProblem, Scalar

UNREADABLE: Final = Constant(None)
"""Placeholder for an expression that could not be read, so that the rest can be read."""

Scope = Mapping[str, str]
"""The variables that a clause may use, with their kinds: "node", "edge", "path", "literal", or "value" for any."""


@dataclass(frozen=True, slots=True)
class Context:
    """The context of an expression: the variables it may use, and the reason if it cannot contain an aggregate."""

    scope: Scope
    aggregate_refusal: str | None = "an aggregate is only possible in WITH and RETURN"


MAX_PROBLEMS: Final = 20
"""Maximum problems reported of one plan."""

_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_ESCAPED: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)


@dataclass(slots=True)
class Reading:
    """The state of reading one text."""

    text: str
    clause: str = "the plan"
    problems: list[PlanProblem] = field(default_factory=list[PlanProblem])
    unknown: set[str] = field(default_factory=set[str])
    """Unknown names found so far. Each is reported once."""
    params: Mapping[str, Scalar | tuple[Scalar, ...]] = field(default_factory=dict[str, "Scalar | tuple[Scalar, ...]"])
    """The values of the plan's parameters."""
    used: set[str] = field(default_factory=set[str])
    """The parameters that the text has."""
    renamed: Mapping[str, str] = field(default_factory=dict[str, str])
    """The variables that stand for members of lists at this place, by the names that they have in the text."""
    elements: int = 0
    """Number of nodes and edges so far."""
    _unnamed: int = 0

    def report(self, where: Node | Token, reason: str, *alternatives: str) -> Expression:
        """Report a problem at this place of the text, and return a placeholder for the expression."""
        line, column = (where.line, where.column) if isinstance(where, Token) else (where.meta.line, where.meta.column)
        problem = PlanProblem(f"{self.clause}, line {line}, column {column}", reason, alternatives)
        if problem not in self.problems and len(self.problems) < MAX_PROBLEMS:
            self.problems.append(problem)
        return UNREADABLE

    def parameter(self, node: Node) -> Expression:
        """The value of a parameter. One without a value is a problem."""
        name = str(node.children[0])[1:].strip("`")
        self.used.add(name)
        if name not in self.params:
            example = f'params={{"{name}": ...}}'
            return self.report(node, f"the parameter ${name} has no value", example)
        value = self.params[name]
        return ListOf(tuple(map(Constant, value))) if isinstance(value, tuple) else Constant(value)

    def member_name(self, name: str, scope: Scope) -> str:
        """A name for a variable that stands for members of a list: no variable around it has it."""
        taken = {*scope, *self.renamed.values()}
        return next(
            candidate
            for candidate in chain([name], (f"{name}_{number}" for number in count(1)))
            if candidate not in taken
        )

    @contextmanager
    def naming(self, names: Mapping[str, str]) -> Generator[None]:
        """Use these names for variables that stand for members of lists, within this block."""
        before, self.renamed = self.renamed, {**self.renamed, **names}
        try:
            yield
        finally:
            self.renamed = before

    def unnamed(self) -> str:
        """A new variable for a node or an edge that has none."""
        self._unnamed += 1
        return f"{UNNAMED}{self._unnamed}"

    def source_text(self, node: Node) -> str:
        """The source text of a tree."""
        return self.text[node.meta.start_pos : node.meta.end_pos]


def subtrees(node: Node, *kinds: str) -> Iterator[Node]:
    """The subtrees of a tree, all or only these kinds."""
    return (child for child in node.children if isinstance(child, Tree) and (not kinds or child.data in kinds))


def subtree(node: Node, *kinds: str) -> Node | None:
    """The first subtree of one of these kinds; None if there is none."""
    for child in node.children:
        if isinstance(child, Tree) and child.data in kinds:
            return child
    return None


def has_token(node: Node, token: str) -> bool:
    """Whether a tree directly contains a token of this type."""
    return any(isinstance(child, Token) and child.type == token for child in node.children)


def tokens(node: Node, *kinds: str) -> Iterator[Token]:
    """The tokens directly in a tree, all or only these types."""
    return (child for child in node.children if isinstance(child, Token) and (not kinds or child.type in kinds))


def name_of(node: Node) -> str:
    """The name of a `name` tree, or the dotted name of a label, without backticks."""
    if node.data != "name":
        return ".".join(name_of(part) for part in subtrees(node, "name"))
    (word,) = node.children
    text = str(word)
    return text[1:-1].replace("``", "`") if text.startswith("`") else text


def text_value(written: str) -> str:
    """The value of a quoted text, with its escapes decoded."""
    return _ESCAPED.sub(_unescaped, written[1:-1])


def _unescaped(escape: re.Match[str]) -> str:
    if code := escape[1] or escape[2]:
        return chr(int(code, 16)) if int(code, 16) < 0x110000 else "\ufffd"
    return _ESCAPES.get(escape[3], escape[3])


def nearest(name: str, valid: Iterator[str] | Mapping[str, object]) -> tuple[str, ...]:
    """The up to three most similar names; if none is similar, the first eight names."""
    names = list(valid)
    close = get_close_matches(name.casefold(), [valid_name.casefold() for valid_name in names], 3, 0.6)
    return tuple(valid_name for match in close for valid_name in names if valid_name.casefold() == match) or tuple(
        sorted(names)[:8]
    )


_PLAIN: Final[Mapping[str, tuple[str, ...]]] = {
    "map": ("maps are not supported as values", "one column for each: n.a AS a, n.b AS b"),
    "map_projection": ("maps are not supported as values", "properties(n)", "one column for each: n.a, n.b"),
    "reduction": ("unknown form of call", "reduce(total = 0, x IN list | total + x)"),
    "collected": ("COLLECT { } is not supported", "OPTIONAL MATCH, then collect(n.name)"),
    "namespaced": ("functions of packages are not supported",),
}


def unsupported_form(reading: Reading, node: Node) -> tuple[str, ...]:
    """The reason why a form is not supported, then the nearest supported forms."""
    message = _WITH_CONTENT.get(node.data)
    return message(reading, node) if message else _PLAIN[node.data]


def _comprehension(reading: Reading, node: Node) -> tuple[str, ...]:
    """`[(a)-->(b) | b.name]`."""
    reason = "pattern comprehensions are not supported"
    source, *rest = subtrees(node)
    texts = [reading.source_text(part) for part in rest]
    condition = f" WHERE {texts[0]}" if has_token(node, "WHERE") else ""
    if source.data == "pattern_predicate":
        pattern = f"{reading.source_text(source)}{condition}"
        return reason, f"OPTIONAL MATCH {pattern}, then collect({texts[-1]})", f"COUNT {{ {pattern} }}"
    return "a list comprehension needs a list", "[x IN list WHERE condition | value]"


def _quantified(reading: Reading, node: Node) -> tuple[str, ...]:
    del reading, node
    return "unknown form of call", "any(x IN list WHERE condition)", "all(...)", "none(...)", "single(...)"


def _path_value(reading: Reading, node: Node) -> tuple[str, ...]:
    return "a shortest path must be part of a pattern", f"MATCH p = {reading.source_text(node)}"


_WITH_CONTENT: Final[Mapping[str, Callable[[Reading, Node], tuple[str, ...]]]] = {
    "comprehension": _comprehension,
    "quantified": _quantified,
    "path_value": _path_value,
}
"""Forms whose message depends on their content."""
