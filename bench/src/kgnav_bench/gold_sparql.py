"""Parses the gold SPARQL of the Wikidata questions into the parts to walk: triples, statements and paths.

Only the forms that occur in these questions are supported. Any other query is refused, so that none is misread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_TOKEN = re.compile(r"wd:(Q\d+)|\?\w+|(?:wdt|ps|pq|p):P\d+[*+]?|[{}();./|]|[A-Za-z]+|\d+|\S")


class UnreadableQueryError(ValueError):
    """The query has a form that is not supported."""


@dataclass(frozen=True, slots=True)
class Step:
    """One predicate of a path: the property, and whether it is repeated (`*` or `+`)."""

    property: str
    repeated: str = ""


@dataclass(frozen=True, slots=True)
class Direct:
    """`subject path value` over best-rank statements. A term is an item's id, or a variable that begins with `?`."""

    subject: str
    path: tuple[Step, ...]
    value: str
    either: bool = False
    """Whether the path's steps are alternatives, not a sequence."""


@dataclass(slots=True)
class Qualified:
    """A statement: its subject, property and value (None: any), and its qualifiers."""

    subject: str = ""
    property: str = ""
    value: str | None = None
    qualifiers: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


Pattern = Direct | Qualified


@dataclass(frozen=True, slots=True)
class Query:
    """Alternative branches of patterns, the answer variables, and whether the answers are counted.

    `excluded` is a pair of variables whose values must differ.
    """

    branches: tuple[tuple[Pattern, ...], ...]
    variables: tuple[str, ...]
    counted: bool
    limited: bool
    excluded: tuple[str, str] | None = None


def parse(sparql: str) -> Query:
    """Parse a query.

    Raises:
        UnreadableQueryError: it has a form that the questions do not have.
    """
    head, brace, body = sparql.partition("{")
    tokens = [match[1] or match[0] for match in _TOKEN.finditer(body)]
    if not brace or "}" not in tokens:
        raise UnreadableQueryError(sparql)
    end = len(tokens) - 1 - tokens[::-1].index("}")
    inner, rest = tokens[:end], tokens[end + 1 :]
    counted = re.search(r"count\s*\(\s*(\?\w+)\s*\)", head, re.IGNORECASE)
    variables = (counted[1],) if counted else tuple(re.findall(r"\?\w+", head))
    excluded = None
    if "FILTER" in (upper := [token.upper() for token in inner]):
        start = upper.index("FILTER")
        words = inner[start:]
        if upper[start + 3 : start + 5] != ["NOT", "IN"]:
            raise UnreadableQueryError(sparql)
        excluded = words[2], words[6]
        inner = inner[:start]
    if rest and (len(rest) != 2 or rest[0].upper() != "LIMIT"):
        raise UnreadableQueryError(sparql)
    branches = tuple(tuple(_patterns(branch)) for branch in _branches(inner))
    return Query(branches, variables, counted is not None, bool(rest), excluded)


def _branches(tokens: Sequence[str]) -> Iterator[Sequence[str]]:
    """The groups of a union, or the only group."""
    if "{" not in tokens:
        yield tokens
        return
    group: list[str] = []
    for word in tokens:
        if word == "}":
            yield group
        elif word == "{" or word.upper() == "UNION":
            group = []
        else:
            group.append(word)


def _patterns(tokens: Sequence[str]) -> Iterator[Pattern]:
    statements: dict[str, Qualified] = {}
    for subject, predicate, value in _triples(tokens):
        prefix, name = predicate[0].partition(":")[::2]
        if prefix == "p":
            made = statements.setdefault(value, Qualified())
            made.subject, made.property = subject, name
        elif prefix == "ps":
            statements.setdefault(subject, Qualified()).value = value
        elif prefix == "pq":
            statements.setdefault(subject, Qualified()).qualifiers.append((name, value))
        else:
            steps = tuple(_step(each) for each in predicate if each not in "/|")
            yield Direct(subject, steps, value, either="|" in predicate)
    yield from statements.values()


def _triples(tokens: Sequence[str]) -> Iterator[tuple[str, list[str], str]]:
    rest = list(tokens)
    subject = ""
    while rest:
        if rest[0] == ".":
            rest.pop(0)
            subject = ""
            continue
        if rest[0] == ";":
            rest.pop(0)
        elif not subject:
            subject = rest.pop(0)
        predicate: list[str] = []
        while rest and (":P" in rest[0] or rest[0] in "/|"):
            predicate.append(rest.pop(0))
        if not predicate or not rest:
            raise UnreadableQueryError(" ".join(tokens))
        yield subject, predicate, rest.pop(0)
        if rest and rest[0] not in ".;":
            raise UnreadableQueryError(" ".join(tokens))


def _step(token: str) -> Step:
    name = token.partition(":")[2]
    bare = name.rstrip("*+")
    return Step(bare, name[len(bare) :])


def is_variable(term: str) -> bool:
    """Whether a term is a variable, not the id of an item."""
    return term.startswith("?")
