"""Writes the toy graph as a Wikibase does. A Wikibase has no booleans: they become texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path

from kgnav_bench.wikibase import Value, Wikibase
from tests.contract import toy, toy_numbers

_SECOND, _DAY = "14", "11"
_NODE = re.compile(r"<[^>]*/(entity/statement|value)/\S*> |\S+ \S+ <[^>]*/entity/statement/")
"""Matches the beginning of a triple whose head or tail is the node of a statement or of a full value."""


def write(
    folder: Path,
    given: Sequence[toy.Node] = toy.NODES,
    between: Sequence[toy.Edge] = toy.EDGES,
    *,
    truthy: bool = False,
) -> Path:
    """Write the graph as N-Triples. With `truthy`, without the nodes of statements and full values."""
    path = folder / "toy.nt"
    lines = _lines(Wikibase(), given, between)
    path.write_text("".join(values_only(lines) if truthy else lines), encoding="utf-8", newline="\n")
    return path


def values_only(lines: Iterable[str]) -> Iterator[str]:
    """The lines of a truthy dump: those without the nodes of statements and full values."""
    return (line for line in lines if not _NODE.match(line))


def _lines(wikibase: Wikibase, given: Sequence[toy.Node], between: Sequence[toy.Edge]) -> Iterator[str]:
    numbers = count(1)
    kinds: dict[str, str] = {name: value.kind for each in toy.NODES for name, value in _values(each)}
    kinds |= {edge.relation: "item" for edge in toy.EDGES}
    kinds |= {name: _value(value).kind for edge in toy.EDGES for name, value in edge.qualifiers}
    kinds |= {name: value.kind for each in given for name, value in _values(each)}
    yield from wikibase.property(toy_numbers.INSTANCE_OF, "item", [("instance of", "en")])
    for name in toy_numbers.RELATIONS:
        yield from wikibase.property(toy_numbers.relation(name), kinds[name], [(name.replace("_", " "), "en")])
    for label in toy.labels_of(given):
        yield from wikibase.item(toy_numbers.label(label), [(label, "en")])
    for each in given:
        local = toy_numbers.node(each.id)
        yield from wikibase.item(
            local,
            [(name.text, name.language or "en") for name in each.names],
            [(alias, "en") for alias in each.aliases],
            [(each.description, "en")] if each.description else (),
        )
        for label in each.types:
            value = Value("item", toy_numbers.label(label))
            yield from wikibase.statement(local, toy_numbers.INSTANCE_OF, value, number=next(numbers))
        for name, value in _values(each):
            yield from wikibase.statement(local, toy_numbers.relation(name), value, number=next(numbers))
    for edge in between:
        yield from wikibase.statement(
            toy_numbers.node(edge.head),
            toy_numbers.relation(edge.relation),
            Value("item", toy_numbers.node(edge.tail)),
            [(toy_numbers.relation(name), _value(value)) for name, value in edge.qualifiers],
            number=next(numbers),
        )


def _values(node: toy.Node) -> list[tuple[str, Value]]:
    return [(name, _value(value)) for name, value in node.properties]


def _value(value: toy.Value) -> Value:
    if value.language:
        return Value("text", value.text, value.language)
    match value.kind:
        case "integer" | "decimal":
            return Value("quantity", value.text)
        case "date":
            return Value("time", f"{value.text}T00:00:00Z", _DAY)
        case "dateTime":
            return Value("time", value.text, _SECOND)
        case "string" | "boolean":
            return Value("string", value.text)
