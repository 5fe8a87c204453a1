"""Walks to answers along real edges: random ones, or along the gold paths of MetaQA."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kgnav_bench.metaqa import HOPS, Question, questions, source_triples

_LONGEST = 3
"""Maximum hops of a walk, as in the gold paths."""


@dataclass(frozen=True, slots=True)
class Hop:
    """One edge, followed in a direction."""

    start: str
    relation: str
    direction: str
    end: str


Walk = tuple[Hop, ...]
"""Hops from the topic, where the first starts, to the answer, where the last ends. No node occurs twice."""


class Edges:
    """The edges of a graph, and its hubs: nodes with more than `hub_rows` edges in one direction."""

    def __init__(self, triples: Iterable[tuple[str, str, str]], hub_rows: int) -> None:
        self._around: dict[tuple[str, str], list[Hop]] = defaultdict(list)
        for head, relation, tail in triples:
            self._around[head, "outgoing"].append(Hop(head, relation, "outgoing", tail))
            self._around[tail, "incoming"].append(Hop(tail, relation, "incoming", head))
        self.hubs = {node for (node, _), hops in self._around.items() if len(hops) > hub_rows}
        self.nodes: Sequence[str] = list(dict.fromkeys(node for node, _ in self._around))

    def at(self, node: str) -> Sequence[Hop]:
        """The hops from a node, in either direction."""
        return [*self._around.get((node, "outgoing"), ()), *self._around.get((node, "incoming"), ())]

    def walks(self, chance: random.Random) -> Iterator[Walk]:
        """Endless random walks of one to three hops that avoid hubs."""
        while True:
            walk = self._drawn(chance, [None] * chance.randint(1, _LONGEST), chance.choice(self.nodes))
            if walk:
                yield walk

    def gold_walks(self, asked: Sequence[Question], chance: random.Random) -> Iterator[Walk]:
        """Walks that avoid hubs along the gold paths of questions, if such a walk reaches a gold answer."""
        for question in asked:
            path = [(step.relation, step.direction) for step in question.path]
            walk = self._drawn(chance, path, question.topic)
            if walk and walk[-1].end in question.answers:
                yield walk

    def through_hubs(self, chance: random.Random) -> Iterator[Walk]:
        """Endless random walks of two hops with a hub in the middle; none if there is no hub."""
        hubs = sorted(self.hubs)
        while hubs:
            near, far = chance.sample(self.at(chance.choice(hubs)), 2)
            if near.end != far.end and near.end not in self.hubs:
                turned = "incoming" if near.direction == "outgoing" else "outgoing"
                yield Hop(near.end, near.relation, turned, near.start), far

    def _drawn(self, chance: random.Random, path: Sequence[tuple[str, str] | None], topic: str) -> Walk:
        """A random walk from a topic along relations and directions (None: any); empty if it reached no end."""
        walk: list[Hop] = []
        passed = {topic}
        here = topic
        for number, step in enumerate(path):
            last = number == len(path) - 1
            onward = [
                hop
                for hop in self.at(here)
                if (step is None or step == (hop.relation, hop.direction))
                and hop.end not in passed
                and (last or hop.end not in self.hubs)
            ]
            if not onward:
                return ()
            walk.append(chance.choice(onward))
            here = walk[-1].end
            passed.add(here)
        return tuple(walk)


def gold_edges(folder: Path, hub_rows: int) -> Edges:
    """The edges of the film graph."""
    return Edges(source_triples(folder), hub_rows)


def gold_questions(folder: Path, chance: random.Random) -> list[Question]:
    """All questions of all lengths, in random order."""
    asked = [question for hops in HOPS for question in questions(folder, hops)]
    chance.shuffle(asked)
    return asked


def connected(start: str, end: str, edges: Mapping[str, set[str]], avoided: Iterable[str] = ()) -> bool:
    """Whether edges lead from one node to another without passing through the nodes in `avoided`."""
    avoided = set(avoided)
    seen, waiting = {start}, [start]
    while waiting:
        node = waiting.pop()
        for far in edges.get(node, ()):
            if far == end:
                return True
            if far not in seen and far not in avoided:
                seen.add(far)
                waiting.append(far)
    return False
