"""MetaQA (Zhang et al. 2018; CC BY 3.0): a film graph, and questions with their gold paths and answers."""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kgnav_bench import records
from kgnav_bench.datasets.dataset import read
from kgnav_bench.datasets.metaqa_files import METAQA
from kgnav_bench.datasets.rows import UnreadableDatasetError

HOPS = (1, 2, 3)
"""Lengths of the gold paths. Each length has its own file of questions."""


@dataclass(frozen=True, slots=True)
class Step:
    """One hop of a gold path."""

    relation: str
    direction: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its topic, its gold path and its answers. The topic itself is never an answer."""

    text: str
    topic: str
    path: tuple[Step, ...]
    answers: frozenset[str]


Neighbours = Mapping[tuple[str, str], Mapping[str, Sequence[str]]]
"""Far ends by relation, for each (entity, direction), read directly from the source file."""


def graph_source(folder: Path) -> Path:
    """The file of the film graph: head, relation and tail on each line. Names are the ids."""
    return folder / "kb.tsv.gz"


def questions(folder: Path, hops: int) -> list[Question]:
    """The questions with gold paths of this length, in the order of the file.

    Raises:
        UnreadableDatasetError: the file cannot be read, or one of its rows is not a question with a gold path.
    """
    path = folder / f"{hops}hop.jsonl.gz"
    result = read(METAQA, path)
    if result.bad:
        raise UnreadableDatasetError(f"{path}, {result.bad[0]}")
    for record in result.questions:
        if len(record.relations) != hops:
            raise UnreadableDatasetError(
                f"{path}: question {record.id} has a gold path of {len(record.relations)} hops."
            )
    return [_question(record) for record in result.questions]


def _question(record: records.Question) -> Question:
    (topic,) = record.topics
    path = tuple(
        Step(relation.removeprefix("^"), "incoming" if relation.startswith("^") else "outgoing")
        for relation in record.relations
    )
    return Question(record.text, topic.id, path, frozenset(answer.names[0] for answer in record.answers))


def sample(items: Sequence[Question], size: int) -> list[Question]:
    """A fixed sample of `size` questions, spread evenly over all of them."""
    stride = max(len(items) // size, 1)
    return list(items[::stride][:size])


def source_triples(folder: Path) -> Iterator[tuple[str, str, str]]:
    """The triples of the film graph's source file."""
    with gzip.open(graph_source(folder), "rt", encoding="utf-8") as lines:
        for line in lines:
            head, relation, tail = line.rstrip("\n").split("\t")
            yield head, relation, tail


PREFIX = "Entity:name="
"""Prefix of the film graph's ids in a property graph store that was loaded with `write_property_graph`'s files."""


def write_property_graph(folder: Path, target: Path) -> tuple[Path, Path]:
    """Write the film graph as a node and an edge file with neo4j-admin's headers. A node's name is its id."""
    target.mkdir(parents=True, exist_ok=True)
    nodes, edges = target / "nodes.csv", target / "edges.csv"
    triples = list(source_triples(folder))
    with nodes.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("name:ID", ":LABEL"))
        names = dict.fromkeys(name for head, _, tail in triples for name in (head, tail))
        rows.writerows((name, "Entity") for name in names)
    with edges.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow((":START_ID", ":TYPE", ":END_ID"))
        rows.writerows(triples)
    return nodes, edges


def source_neighbours(folder: Path) -> Neighbours:
    """The neighbours of each entity in the source file: the ground truth for answers."""
    return neighbours_in(source_triples(folder))


def neighbours_in(triples: Iterable[tuple[str, str, str]]) -> Neighbours:
    """The neighbours of each entity in both directions, by relation."""
    around: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for head, relation, tail in triples:
        around[head, "outgoing"][relation].append(tail)
        around[tail, "incoming"][relation].append(head)
    return around
