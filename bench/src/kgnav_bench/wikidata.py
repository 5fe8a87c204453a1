"""WD50K (Galkin et al. 2020) and CoDEx-M (Safavi and Koutra 2020) as Wikidata's own RDF, with questions on them.

Two original items of Wikidata are added. Their files do not describe the properties in use, so the datatypes are
derived from the values.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from kgnav_bench.wikibase import Value, Wikibase

ITEMS = ("Q42.ttl.gz", "Q513.ttl.gz")
"""Files that are loaded unchanged."""

_BASE = "http://www.wikidata.org"
_SUBCLASS = "P279"
_STATEMENT = re.compile(r"^\t?ps:(P\d+) (.+) [;.]$", re.MULTILINE)
_QUALIFIER = re.compile(r"^\t?pq:(P\d+) ([^\n]+?)(?: [;.]|,)$", re.MULTILINE)
_PLAIN_TEXTS = frozenset({"P373", "P1545", "P1810", "P742", "P935", "P2096", "P9675"})
"""Properties of those items with the datatype string. All others with texts as values are external ids."""


class Statement(NamedTuple):
    """A statement of WD50K or CoDEx-M, whose values are all items. A tuple, because 400,000 are created."""

    subject: str
    name: str
    value: str
    qualifiers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class GoldQuery:
    """A question, its gold SPARQL, and its answers on these data: ids, or one number."""

    text: str
    sparql: str
    answers: frozenset[str]


def statements(folder: Path) -> Iterator[Statement]:
    """All statements: those of WD50K, then the triples of CoDEx-M that WD50K does not have."""
    seen: set[tuple[str, ...]] = set()
    triples: set[tuple[str, ...]] = set()
    for fields in map(tuple, _rows(folder / "wd50k.csv.gz", ",")):
        if fields not in seen:
            seen.add(fields)
            triples.add(fields[:3])
            subject, name, value, *rest = fields
            yield Statement(subject, name, value, tuple(zip(rest[::2], rest[1::2], strict=True)) if rest else ())
    for subject, name, value in _rows(folder / "codex-m.tsv.gz", "\t"):
        triple = (subject, name, value)
        if triple not in triples:
            triples.add(triple)
            yield Statement(subject, name, value)


def labels(folder: Path) -> dict[str, str]:
    """The labels in the sources, by id."""
    return dict(_rows(folder / "labels.tsv.gz", "\t"))


def questions(folder: Path) -> list[GoldQuery]:
    """The questions in the order of the file."""
    with gzip.open(folder / "questions.jsonl.gz", "rt", encoding="utf-8") as lines:
        read = [json.loads(line) for line in lines]
    return [GoldQuery(item["question"], item["sparql"], frozenset(map(str, item["answers"]))) for item in read]


def datatypes(folder: Path) -> Mapping[str, str]:
    """The datatypes of all properties: items in the statements, and those derived from the two items' files."""
    names: set[str] = set()
    for made in statements(folder):
        names.add(made.name)
        names.update(name for name, _ in made.qualifiers)
    found = dict.fromkeys(names, "item")
    for file in ITEMS:
        with gzip.open(folder / file, "rt", encoding="utf-8") as lines:
            text = lines.read()
        for name, value in (*_STATEMENT.findall(text), *_QUALIFIER.findall(text)):
            found.setdefault(name, _kind(name, value))
    return found


def convert(folder: Path, target: Path, around: Set[str] | None = None) -> int:
    """Write the data as gzipped N-Triples. Returns the number of triples.

    With `around`, only statements with these items as subject or value are written, and all classes.
    """
    written = 0
    with gzip.open(target, "wt", encoding="utf-8", compresslevel=1) as file:
        for line in _lines(folder, around):
            file.write(line)
            written += 1
    return written


def _lines(folder: Path, around: Set[str] | None) -> Iterator[str]:
    wikibase = Wikibase(_BASE)
    named = labels(folder)
    items: set[str] = set()
    counts = Counter[str]()
    for made in statements(folder):
        if around is not None and made.name != _SUBCLASS and not around & {made.subject, made.value}:
            continue
        items |= {made.subject, made.value, *(value for _, value in made.qualifiers)}
        counts[made.subject] += 1
        qualifiers = [(name, Value("item", value)) for name, value in made.qualifiers]
        value = Value("item", made.value)
        yield from wikibase.statement(made.subject, made.name, value, qualifiers, number=counts[made.subject])
    described = {file.partition(".")[0] for file in ITEMS}
    for local in sorted(item for item in items if item not in described and item.startswith("Q")):
        yield from wikibase.item(local, [(named[local], "en")] if local in named else ())
    for local, kind in sorted(datatypes(folder).items()):
        yield from wikibase.property(local, kind, [(named[local], "en")] if local in named else ())


def _kind(name: str, value: str) -> str:
    """The datatype of a value written in Turtle."""
    if value.startswith(("wd:", "_:")):
        return "item"
    if value.startswith("<"):
        return "media" if "Special:FilePath" in value else "url"
    for mark, kind in (("xsd:dateTime", "time"), ("xsd:decimal", "quantity"), ("wktLiteral", "coordinates")):
        if value.endswith(mark):
            return kind
    if re.search(r'"@[A-Za-z-]+$', value):
        return "text"
    return "string" if name in _PLAIN_TEXTS else "external-id"


def _rows(file: Path, separator: str) -> Iterator[list[str]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield line.rstrip("\n").split(separator)
