"""MetaQA (Zhang et al. 2018; CC BY 3.0): a film graph, and questions with their gold paths and answers."""

from __future__ import annotations

import csv
import gzip
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HOPS = (1, 2, 3)
"""Lengths of the gold paths; each has a file of questions."""


@dataclass(frozen=True, slots=True)
class Step:
    """One hop of a gold path."""

    relation: str
    direction: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question, where its path starts, the path, and what stands at its end. The topic itself is no answer."""

    text: str
    topic: str
    path: tuple[Step, ...]
    answers: frozenset[str]


Neighbours = Mapping[tuple[str, str], Mapping[str, Sequence[str]]]
"""By entity and direction: the far ends of each relation, straight from the source file."""


def graph_source(folder: Path) -> Path:
    """The film graph: head, relation and tail a line; names are the ids."""
    return folder / "kb.tsv.gz"


def questions(folder: Path, hops: int) -> list[Question]:
    """The questions whose gold paths have this many hops, in the order of the file."""
    with gzip.open(folder / f"{hops}hop.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [_question(json.loads(line)) for line in lines]


def _question(read: dict[str, Any]) -> Question:
    path = tuple(Step(relation, direction) for relation, direction in read["path"])
    return Question(read["question"], read["topic"], path, frozenset(read["answers"]))


def sample(items: Sequence[Question], size: int) -> list[Question]:
    """The same `size` questions at every call, spread evenly over all of them."""
    stride = max(len(items) // size, 1)
    return list(items[::stride][:size])


def source_triples(folder: Path) -> Iterator[tuple[str, str, str]]:
    """The triples of the film graph's source file."""
    with gzip.open(graph_source(folder), "rt", encoding="utf-8") as lines:
        for line in lines:
            head, relation, tail = line.rstrip("\n").split("\t")
            yield head, relation, tail


PREFIX = "Entity:name="
"""What ids of the film graph begin with in a property graph store, loaded from the files of `write_property_graph`."""


def write_property_graph(folder: Path, target: Path) -> tuple[Path, Path]:
    """Write the film graph as node and edge file with neo4j-admin's headers; a name is its node's id."""
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
    """What the source file says around each entity: the truth that answers are compared with."""
    around: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for head, relation, tail in source_triples(folder):
        around[head, "outgoing"][relation].append(tail)
        around[tail, "incoming"][relation].append(head)
    return around
