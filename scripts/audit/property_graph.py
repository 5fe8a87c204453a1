"""A property graph as node and edge CSV: people, works and firms with every kind of value, generated with a seed."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

from .raw_graph import Day, Edge, Node, RawGraph, Scalar, Value

NODES, EDGES = "nodes.csv", "edges.csv"

_NODE_HEADER = (
    "key:ID", ":LABEL", "name", "id", "code:int", "score:float", "big:long", "active:boolean", "born:date",
    "seen:datetime", "note", "tags:string[]", "marks:int[]", "rates:float[]",
)  # fmt: skip
_EDGE_HEADER = (
    ":START_ID",
    ":END_ID",
    ":TYPE",
    "since:date",
    "weight:float",
    "level:int",
    "roles:string[]",
    "years:int[]",
)

_FIRST = ("Ada", "Bob", "Cy", "Dora", "Emil", "Fay", "Gus", "Hana", "Ivo", "Jun", "Kim", "Lea")
_LAST = ("Abel", "Brandt", "Cohen", "Dvorak", "Eriksen", "Faure", "Greco", "Huber", "Ito", "Jansen")
_TAGS = ("red", "Green", "blue", "Deep Blue", "RED", "amber", "sea green", "x")
_ROLES = ("lead", "Dev", "ops", "Lead Dev", "qa", "sales")
_NOTES = ("", "plain", "Foo\nFoo", "a, b; c", 'says "hi"', "Straße", "line one\nline two\nline three", "0", "false")

_Row = tuple[object, ...]

_FIELD = re.compile(r'"((?:[^"]|"")*)"|([^,\n]*)')


def write(folder: Path, seed: int, people: int, samples: int) -> Sequence[Path]:
    """Write both files. `samples` is the number of nodes whose names share a word with a few others."""
    made = random.Random(seed)  # noqa: S311 - a repeatable graph
    nodes = [*_people(made, people), *_firms(made, people // 8), *_samples(samples)]
    keys = [str(node[0]) for node in nodes[:people]]
    firms = [str(node[0]) for node in nodes[people : people + people // 8]]
    edges = [*_jobs(made, keys, firms), *_ties(made, keys)]
    files = folder / NODES, folder / EDGES
    for file, header, rows in zip(files, (_NODE_HEADER, _EDGE_HEADER), (nodes, edges), strict=True):
        lines = [",".join(header), *(",".join(map(_field, row)) for row in rows)]
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return files


def read(folder: Path) -> RawGraph:
    """The graph that both files hold."""
    nodes: dict[str, Node] = {}
    for row in _rows(folder / NODES):
        key, labels = str(row.pop("key")), str(row.pop(":LABEL"))
        nodes[key] = Node(key, frozenset(labels.split(";")), {"key": key, **row})
    edges: list[Edge] = []
    for row in _rows(folder / EDGES):
        head, tail, relation = (str(row.pop(name)) for name in (":START_ID", ":END_ID", ":TYPE"))
        edges.append(Edge(head, relation, tail, row))
    arrays = (*_NODE_HEADER, *_EDGE_HEADER)
    return RawGraph(
        "property graph",
        nodes,
        tuple(edges),
        key="key",
        names=frozenset({"name"}),
        arrays=frozenset(column.partition(":")[0] for column in arrays if column.endswith("[]")),
    )


def _people(made: random.Random, number: int) -> Iterator[_Row]:
    for place in range(number):
        first, last = made.choice(_FIRST), made.choice(_LAST)
        yield (
            f"p{place}",
            made.choice(("Person", "Person;Author", "Person;Owner")),
            f"{first} {last}" if place % 7 else f"{first} {last}".upper(),
            f"p{place + 1}" if place % 2 else f"n{place}",  # the key of another node, or of none
            _maybe(made, made.choice((0, 1, 2, 3, 10, 100, made.randrange(1000)))),
            _maybe(made, made.choice((0.0, 1.0, 2.0, 2.5, -1.5, 1e300, made.randrange(100) / 4))),
            _maybe(made, made.choice((9007199254740993, 9007199254740992, 2**62, -(2**62), 7))),
            _maybe(made, made.choice((True, False))),
            _maybe(made, _day(made)),
            _maybe(made, f"{_day(made)}T{made.randrange(24):02}:{made.randrange(60):02}:00Z"),
            _maybe(made, made.choice(_NOTES)),
            _maybe(made, _several(made, _TAGS)),
            _maybe(made, _several(made, (1, 2, -2, 9, 10, 0, 7, 30))),
            _maybe(made, _several(made, (1.5, 2.0, -0.5, 4.0))),
        )


def _firms(made: random.Random, number: int) -> Iterator[_Row]:
    for place in range(number):
        yield (
            f"f{place}", "Firm", f"{made.choice(_LAST)} & {made.choice(_LAST)}", None, made.randrange(50), None, None,
            made.choice((True, False)), _day(made), None, made.choice(_NOTES), _several(made, _TAGS), None, None,
        )  # fmt: skip


def _samples(number: int) -> Iterator[_Row]:
    """Nodes with a word in common; the last of them have a label of their own."""
    rest = (None,) * (len(_NODE_HEADER) - 3)
    for place in range(number):
        label = "Vial" if place >= number - number // 30 else "Sample"
        yield (f"s{place}", label, f"specimen {place:05}", *rest)


def _jobs(made: random.Random, people: Sequence[str], firms: Sequence[str]) -> Iterator[_Row]:
    for person in people:
        for _ in range(made.randrange(4)):
            yield _edge(made, person, made.choice(firms), "works_at")
    for person in people:  # a hub: more neighbours than one page has
        for _ in range(1 + made.randrange(4)):
            yield _edge(made, person, firms[0], "buys_from")


def _ties(made: random.Random, people: Sequence[str]) -> Iterator[_Row]:
    for person in people:
        for _ in range(made.randrange(3)):
            yield _edge(made, person, made.choice(people), "knows")


def _edge(made: random.Random, head: str, tail: str, relation: str) -> _Row:
    return (
        head,
        tail,
        relation,
        _maybe(made, _day(made)),
        _maybe(made, made.choice((0.0, 1.0, 2.0, 0.25, 7.5))),
        _maybe(made, made.randrange(12)),
        _maybe(made, _several(made, _ROLES)),
        _maybe(made, _several(made, (1999, 2005, 2001, 1987))),
    )


def _maybe(made: random.Random, value: object) -> object:
    return value if made.random() < 0.8 else None


def _several(made: random.Random, values: Sequence[object]) -> _Row:
    return tuple(made.choice(values) for _ in range(made.choice((1, 1, 2, 2, 3, 4))))


def _day(made: random.Random) -> Day:
    return Day(f"{made.randrange(1810, 2020)}-{made.randrange(1, 13):02}-{made.randrange(1, 29):02}")


def _field(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple):
        return ";".join(map(_field, cast("_Row", value)))
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return '"' + text.replace('"', '""') + '"' if not text or re.search(r'[",\n]', text) else text


def _rows(file: Path) -> Iterator[dict[str, Value]]:
    """The rows of a file by the names in its header. A field without quotation marks and text is no value."""
    records = _records(file.read_text(encoding="utf-8"))
    header = [str(name) for name in next(records)]
    for record in records:
        row: dict[str, Value] = {}
        for column, text in zip(header, record, strict=True):
            name, _, datatype = column.partition(":")
            if text is not None:
                row[name or column] = _parsed(text, datatype)
        yield row


def _records(text: str) -> Iterator[list[str | None]]:
    record: list[str | None] = []
    place = 0
    while place < len(text):
        field = _FIELD.match(text, place)
        if field is None:
            raise ValueError(f"no field at character {place}")
        quoted, plain = field.groups()
        record.append(plain or None if quoted is None else quoted.replace('""', '"'))
        place = field.end() + 1
        if text[field.end()] == "\n":
            yield record
            record = []


def _parsed(text: str, datatype: str) -> Value:
    if datatype.endswith("[]"):
        return tuple(_scalar(part, datatype[:-2]) for part in text.split(";"))
    return _scalar(text, datatype)


def _scalar(text: str, datatype: str) -> Scalar:
    match datatype:
        case "int" | "long":
            return int(text)
        case "float":
            return float(text)
        case "boolean":
            return text == "true"
        case "date" | "datetime":
            return Day(text)
        case _:
            return text
