"""FB15k-237 (Toutanova and Chen 2015) as Freebase's own RDF, with the SimpleQuestions that it can answer.

The data set writes a path through a mediator as one relation, `/people/person/spouse_s./people/marriage/spouse`. In
Freebase these are two triples that meet in an unnamed node (a CVT). Here each such triple gets its own mediator again,
so that a store has the same form as Freebase.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from kgnav_bench.metaqa import Neighbours, Question, Step, neighbours_in

NAMESPACE = "http://rdf.freebase.com/ns/"
NAME, TYPE = "type.object.name", "type.object.type"

_HOP = "./"
"""Separator between the two relations of a path through a mediator."""


def source_triples(folder: Path) -> Iterator[tuple[str, str, str]]:
    """The triples of the data set, with ids as in Freebase's RDF. A two-hop relation is `rel1.rel2`.

    Paths through a mediator back to their start are omitted, since they have no meaning.
    """
    for head, relation, tail in _rows(folder / "triples.tsv.gz"):
        hops = _hops(relation)
        if len(hops) == 1 or head != tail:
            yield short(head), ".".join(hops), short(tail)


def source_neighbours(folder: Path) -> Neighbours:
    """The neighbours of each entity in the data set: the ground truth for answers."""
    return neighbours_in(source_triples(folder))


def questions(folder: Path) -> list[Question]:
    """The SimpleQuestions, each with a topic, one outgoing relation, and one answer."""
    with gzip.open(folder / "simplequestions.jsonl.gz", "rt", encoding="utf-8") as lines:
        read = [json.loads(line) for line in lines]
    return [
        Question(
            item["question"],
            short(item["topic"]),
            (Step(".".join(_hops(item["relation"])), "outgoing"),),
            frozenset([short(item["answer"])]),
        )
        for item in read
    ]


def convert(folder: Path, target: Path) -> int:
    """Write the data set as gzipped N-Triples. Returns the number of triples."""
    written = 0
    with gzip.open(target, "wt", encoding="utf-8", compresslevel=1) as file:
        for line in _lines(folder):
            file.write(line)
            written += 1
    return written


def _lines(folder: Path) -> Iterator[str]:
    types: dict[str, set[str]] = defaultdict(set)
    for number, (head, relation, tail) in enumerate(_rows(folder / "triples.tsv.gz")):
        hops = _hops(relation)
        # Freebase's ids never contain this letter, so generated mediators differ from real nodes.
        nodes = [short(head), *(f"g.1u{number:06d}" for _ in hops[1:]), short(tail)]
        for start, hop, end in zip(nodes, hops, nodes[1:], strict=False):
            types[start].add(hop.rpartition(".")[0])
            yield _triple(start, hop, _iri(end))
    for entity, name in _rows(folder / "names.tsv.gz"):
        # JSON escapes at least everything that N-Triples must escape, in the same way.
        yield _triple(short(entity), NAME, f"{json.dumps(name, ensure_ascii=False)}@en")
    for node, classes in types.items():
        for name in sorted(classes):
            yield _triple(node, TYPE, _iri(name))


def short(path: str) -> str:
    """An id in the form of Freebase's RDF: `m.07_m2` for `/m/07_m2`."""
    return path.removeprefix("/").replace("/", ".")


def _hops(relation: str) -> list[str]:
    """The relations in Freebase of one relation of the data set: itself, or the two on either side of a mediator."""
    first, through, second = relation.partition(_HOP)
    return [short(first), short(second)] if through else [short(first)]


def _rows(file: Path) -> Iterable[list[str]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield line.rstrip("\n").split("\t")


def _iri(name: str) -> str:
    return f"<{NAMESPACE}{name}>"


def _triple(subject: str, predicate: str, value: str) -> str:
    return f"{_iri(subject)} {_iri(predicate)} {value} .\n"
