"""Queries a graph file directly in this process, as the baseline of a tool call.

Each look-up makes as few queries as the facts of the answer need. Any other query of the server counts as its overhead.
"""

from __future__ import annotations

import json
import random
import sqlite3
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from kgnav_bench import queries

_PAGE_CACHE = "PRAGMA cache_size = -4096"
"""KiB, as in the adapter."""

_ROWS = 1000
"""Maximum rows of one answer (p of Search-on-Graph)."""

_DRAWS = 400_000
_SIDES = ("outgoing", "incoming")
"""Directions in the order of their numbers in the file."""

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Leaf:
    """An entity to measure at. It has so few neighbours in one direction that `search` shows all."""

    number: int
    key: str
    label: str
    direction: str
    degree: int
    relation: int
    relation_key: str


def opened(path: Path | str) -> sqlite3.Connection:
    """A graph file opened as the adapter opens it."""
    uri = f"file:{quote(str(Path(path).absolute()))}?mode=ro&immutable=1"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None)
    connection.execute(_PAGE_CACHE)
    return connection


class Store:
    """A graph file, read the way the adapter reads it."""

    def __init__(self, path: Path) -> None:
        self._connection = opened(path)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def leaves(self, wanted: int, low: int, high: int) -> list[Leaf]:
        """Up to `wanted` entities with `low` to `high` edges in one direction. Every call returns the same."""
        chance = random.Random(1)  # noqa: S311 - a choice of samples, not a secret
        (highest,) = self._one(queries.HIGHEST_NODE)
        numbers = list(range(1, highest + 1))
        if highest > _DRAWS:
            numbers = chance.sample(range(1, highest + 1), _DRAWS)
        chance.shuffle(numbers)
        found: list[Leaf] = []
        for number in numbers:
            for direction in _SIDES:
                leaf = self._leaf(number, direction, low, high)
                if leaf:
                    found.append(leaf)
            if len(found) >= wanted:
                break
        return found

    def _leaf(self, number: int, direction: str, low: int, high: int) -> Leaf | None:
        outgoing = direction == "outgoing"
        (degree,) = self._one(queries.DEGREE_OUTGOING if outgoing else queries.DEGREE_INCOMING, number)
        if not low <= degree <= high:
            return None
        node = self._one(queries.NODE, number)
        relation = self._one(queries.RELATION_OUTGOING if outgoing else queries.RELATION_INCOMING, number)
        return Leaf(number, node[1], node[2] or node[1], direction, degree, *relation)

    def largest_hubs(self, most: int) -> list[tuple[str, str]]:
        """Key and direction of the nodes with the most rows in one direction, largest first."""
        found: list[tuple[str, str]] = []
        for number, side, _ in self._all(queries.LARGEST_HUBS, most):
            _, key, _ = self._one(queries.NODE, number)
            found.append((str(key), _SIDES[int(side)]))
        return found

    def first_key(self) -> str:
        """The id of the first entity in the file."""
        return str(self._one(queries.FIRST_KEY)[0])

    def neighbourhood(self, leaf: Leaf) -> int:
        """Read what `search` shows of a leaf: the entity, and all its rows with labels."""
        (number, *_) = self._one(queries.NODE_BY_KEY, json.dumps([leaf.key]))
        asked = json.dumps([number])
        rows = self._named(
            queries.TAILS if leaf.direction == "outgoing" else queries.HEADS, nodes=asked, relations=None
        )
        if leaf.direction == "outgoing":
            rows += self._named(queries.ATTRIBUTES, nodes=asked, relations=None)
        return len(rows)

    def filtered(self, leaf: Leaf) -> int:
        """Read what `search` shows with a filter: the rows of one relation in one direction."""
        (number, *_) = self._one(queries.NODE_BY_KEY, json.dumps([leaf.key]))
        query = queries.TAILS_BY if leaf.direction == "outgoing" else queries.HEADS_BY
        return self._rows_of(query, number, leaf)

    def triples(self, leaf: Leaf) -> int:
        """Read what `get_triples` shows: the rows of one relation in both directions."""
        (number, *_) = self._one(queries.NODE_BY_KEY, json.dumps([leaf.key]))
        return sum(self._rows_of(query, number, leaf) for query in (queries.TAILS_BY, queries.HEADS_BY))

    def named(self, leaf: Leaf) -> int:
        """Read what `find_node` needs at least: the entities with a name."""
        return len(self._all(queries.NAMED, leaf.label))

    def fetch_all_and_collapse(self, key: str, direction: str) -> Counter[str]:
        """Summarize a hub as in the paper: fetch every neighbour with its labels, then keep the distinct properties.

        Two examples of each property are kept, as `search` shows them.
        """
        (number, *_) = self._one(queries.NODE_BY_KEY, json.dumps([key]))
        query = queries.TAILS if direction == "outgoing" else queries.HEADS
        rows = self._named(query, nodes=json.dumps([number]), relations=None)
        labels = {relation: label or name for relation, name, label in self._all(queries.RELATIONS)}
        counts = Counter[str]()
        examples: dict[str, list[str]] = defaultdict(list)
        for _, relation, _, _, _, far, label, _ in rows:
            name = labels[relation]
            counts[name] += 1
            if len(examples[name]) < 2:
                examples[name].append(label or far)
        return counts

    def _rows_of(self, query: str, number: object, leaf: Leaf) -> int:
        """Number of rows of a query for one node's relation."""
        return len(self._named(query, node=number, p=leaf.relation, a=-1, b=-1, most=_ROWS))

    def _named(self, query: str, **parameters: object) -> list[Row]:
        return self._connection.execute(query, parameters).fetchall()

    def _one(self, query: str, *parameters: object) -> Row:
        return self._connection.execute(query, parameters).fetchone()

    def _all(self, query: str, *parameters: object) -> list[Row]:
        return self._connection.execute(query, parameters).fetchall()
