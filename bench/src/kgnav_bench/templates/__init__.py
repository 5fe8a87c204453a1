"""GraphWalk's twelve templates on synthetic graphs: seeded questions in all plan languages, with their true answers.

The true answers are computed from the generated graph in plain Python: without a store, a query language or any code
of the product.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from kgnav_bench.templates import lookups, paths, sets
from kgnav_bench.templates.questions import Asker, Question
from kgnav_bench.templates.synthetic import Graph, Shape, generate, write

__all__ = ["INSTANCES", "TEMPLATES", "Graph", "Question", "Shape", "generate", "questions", "write"]

INSTANCES = 10
"""Number of questions for each template."""
_TRIES = 100
"""Most instances rejected as repeated or with an empty answer, before an empty answer is accepted."""

TEMPLATES: tuple[Callable[[Asker], Question | None], ...] = (
    lookups.node_count,
    lookups.relationship_count,
    lookups.most_relationships,
    lookups.node_by_property,
    lookups.relationship_by_property,
    paths.path_finding,
    paths.variable_hops,
    paths.path_from_node,
    paths.remote_property,
    sets.intersection,
    sets.without_connection,
    sets.other_relationship,
)
"""The paper's templates, in its order."""


def questions(graph: Graph, seed: int = 1, instances: int = INSTANCES) -> Iterator[Question]:
    """`instances` different questions of each template, the same ones at every call."""
    for number, template in enumerate(TEMPLATES):
        ask = Asker(graph, random.Random(f"{seed} {number}"))  # noqa: S311 - no secret
        yield from _different(ask, template, instances)


def _different(ask: Asker, template: Callable[[Asker], Question | None], instances: int) -> Iterator[Question]:
    asked: set[str] = set()
    tries = 0
    while len(asked) < instances:
        tries += 1
        made = template(ask)
        if made is None or made.cypher in asked:
            if tries > _TRIES * instances:
                raise ValueError(f"the graph is too small for {instances} questions of this kind: {template.__name__}")
            continue
        if made.truth or tries > _TRIES:
            asked.add(made.cypher)
            yield made
