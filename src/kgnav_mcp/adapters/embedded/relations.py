"""Which relations a set of nodes has, with counts for each node and a few far ends."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence

from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.anchors import Anchors, Path
from kgnav_mcp.adapters.embedded.counts import CountReader, Counts
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.model import AnchoredPage, Count, Direction, Entity, Node, RelationFacts, Stop
from kgnav_mcp.port import TailKind

_EXAMPLES = {Direction.OUTGOING: queries.around.EXAMPLE_TAILS, Direction.INCOMING: queries.around.EXAMPLE_HEADS}
_EXAMPLES_THROUGH = {
    Direction.OUTGOING: queries.around.EXAMPLE_TAILS_THROUGH,
    Direction.INCOMING: queries.around.EXAMPLE_HEADS_THROUGH,
}


class RelationReader:
    """Answers `relations` for one set of nodes, within one job."""

    def __init__(self, builder: Builder, anchors: Anchors, far_ends: TailKind | None) -> None:
        self._builder = builder
        self._session = builder.session
        self._anchors = anchors
        self._far_ends = far_ends

    def page(self, direction: Direction | None, *, hops: int, examples: int, limit: int) -> AnchoredPage[RelationFacts]:
        """The relations ordered by direction and id, with counts and examples of those that are shown."""
        facts: list[RelationFacts] = []
        total = 0
        for side in Direction if direction is None else (direction,):
            counts, mediated = self._counts(side, hops)
            total += len(counts)
            named = sorted((self._builder.path(path).id, path) for path in counts)[: limit - len(facts)]
            shown = {path: counts[path] for _, path in named}
            ends = self._examples(side, shown, examples) if examples else {}
            facts += [
                self._facts(side, path, rows, ends.get(path, ()), mediators=path in mediated)
                for path, rows in shown.items()
            ]
        positions = tuple(f"{fact.direction}|{fact.relation.id}" for fact in facts)
        stop = Stop.LIMIT if total > len(facts) else Stop.COMPLETE
        return AnchoredPage(tuple(facts), positions, Count(total), stop, anchors=self._anchors.given)

    def _counts(self, side: Direction, hops: int) -> tuple[Counts, set[Path]]:
        """The rows of each relation at each node, and the one-hop relations that lead to mediators."""
        reader = CountReader(self._builder, self._anchors, side, self._far_ends)
        counts = reader.near()
        if hops == 1:
            return counts, set()
        through = reader.through()
        near = 0 if side is Direction.OUTGOING else 1
        return counts | through, {(path[near],) for path in through}

    def _facts(
        self, side: Direction, path: Path, rows: Mapping[int, int], examples: Sequence[Node], *, mediators: bool
    ) -> RelationFacts:
        builder, nodes = self._builder, self._anchors.nodes
        return RelationFacts(
            builder.path(path),
            side,
            Count(sum(rows.values())),
            tuple(map(builder.relation, path)),
            tuple(examples),
            mediators,
            per_entity={nodes[number].id: n for number, n in rows.items()},
        )

    def _examples(self, side: Direction, counts: Counts, wanted: int) -> dict[Path, Sequence[Node]]:
        """The first distinct far ends of each relation in the order of `neighbours`: literals, then nodes."""
        entries = self._builder.relation_entries
        places = {number: place for place, number in enumerate(self._anchors.nodes)}
        nodes = {path: sorted(rows, key=places.__getitem__) for path, rows in counts.items()}
        literals: dict[Path, list[Node]] = defaultdict(list)
        ends: dict[Path, list[Node]] = defaultdict(list)
        if side is Direction.OUTGOING and self._far_ends is not TailKind.ENTITY:
            for path, having in nodes.items():
                if entries[path[-1]].attributes:
                    literals[path] += self._literals(path, having, wanted)
        if self._far_ends is not TailKind.LITERAL:
            near = {path[0]: having for path, having in nodes.items() if len(path) == 1 and entries[path[0]].edges}
            for relation, *row in self._session.all(_EXAMPLES[side], json.dumps(near), wanted) if near else ():
                ends[int(relation),].append(self._builder.entity(*row))
            for path, having in nodes.items():
                if len(path) == 2 and entries[path[1]].edges:
                    ends[path] += self._ends_through(side, path, having, wanted)
        return {path: (literals[path] + ends[path])[:wanted] for path in counts}

    def _literals(self, path: Path, nodes: Sequence[int], wanted: int) -> list[Node]:
        query = queries.around.EXAMPLE_ATTRIBUTES if len(path) == 1 else queries.around.EXAMPLE_ATTRIBUTES_THROUGH
        return [self._builder.literal(*row) for row in self._session.all(query, json.dumps(nodes), *path, wanted)]

    def _ends_through(self, side: Direction, path: Path, nodes: Sequence[int], wanted: int) -> list[Entity]:
        rows = self._session.all(_EXAMPLES_THROUGH[side], json.dumps(nodes), *path, wanted)
        return [self._builder.entity(*row) for _, *row in rows]
