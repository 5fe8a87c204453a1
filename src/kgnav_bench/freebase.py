"""FB15k-237 (Toutanova and Chen 2015) as Freebase's own RDF, with the SimpleQuestions that it can answer.

The data set writes a path through a mediator as one relation, `/people/person/spouse_s./people/marriage/spouse`. In
Freebase that is two triples with a node between them that has no name (a CVT); each such triple is given one of its
own again here, so that a store holds what Freebase holds.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from kgnav_bench.metaqa import Neighbours, Question, Step

NAMESPACE = "http://rdf.freebase.com/ns/"
NAME, TYPE = "type.object.name", "type.object.type"

_HOP = "./"
"""Between the two relations of a path through a mediator."""


def source_triples(folder: Path) -> Iterator[tuple[str, str, str]]:
    """The triples of the data set, in the form ids have in Freebase's RDF; a two-hop relation is `rel1.rel2`.

    The ways through a mediator back to where they started are left out: they say nothing of anyone.
    """
    for head, relation, tail in _rows(folder / "triples.tsv.gz"):
        hops = _hops(relation)
        if len(hops) == 1 or head != tail:
            yield short(head), ".".join(hops), short(tail)


def source_neighbours(folder: Path) -> Neighbours:
    """What the data set says around each entity: the truth that answers are compared with."""
    around: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for head, relation, tail in source_triples(folder):
        around[head, "outgoing"][relation].append(tail)
        around[tail, "incoming"][relation].append(head)
    return around


def questions(folder: Path) -> list[Question]:
    """The SimpleQuestions: each a topic, one relation that leaves it, and one entity at its end."""
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
    """Write the data set as gzipped N-Triples; how many triples they are."""
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
        # A letter no id of Freebase's has keeps made-up mediators apart from real nodes.
        nodes = [short(head), *(f"g.1u{number:06d}" for _ in hops[1:]), short(tail)]
        for start, hop, end in zip(nodes, hops, nodes[1:], strict=False):
            types[start].add(hop.rpartition(".")[0])
            yield _triple(start, hop, _iri(end))
    for entity, name in _rows(folder / "names.tsv.gz"):
        # A JSON text escapes at least what a text of N-Triples must, and in the same way.
        yield _triple(short(entity), NAME, f"{json.dumps(name, ensure_ascii=False)}@en")
    for node, classes in types.items():
        for name in sorted(classes):
            yield _triple(node, TYPE, _iri(name))


def short(path: str) -> str:
    """`/m/07_m2` as Freebase's RDF has it: `m.07_m2`."""
    return path.removeprefix("/").replace("/", ".")


def _hops(relation: str) -> list[str]:
    """The relations that one of the data set stands for: itself, or the two at either side of a mediator."""
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
