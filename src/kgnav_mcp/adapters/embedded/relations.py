"""Which relations a set of nodes has, with exact counts at any degree.

Hubs have their rows counted per relation in the file, so that a node with a million neighbours costs what one with
fifty does; every other node has so few rows that they are counted as they are read.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence

from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.pool import Row
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.embedded.session import counted
from kgnav_mcp.model import Count, Direction, Entity, Node, Page, RelationFacts, Stop
from kgnav_mcp.port import TailKind

Path = tuple[int, ...]
"""One relation of the file, or the two relations of a way through a mediator, from head to tail."""

_SIDE = {Direction.OUTGOING: 0, Direction.INCOMING: 1}
_EDGES = {
    Direction.OUTGOING: queries.around.EDGE_COUNTS_OUTGOING,
    Direction.INCOMING: queries.around.EDGE_COUNTS_INCOMING,
}
_THROUGH = {
    Direction.OUTGOING: (queries.around.COUNTS_THROUGH_OUTGOING, queries.around.ATTRIBUTE_COUNTS_THROUGH),
    Direction.INCOMING: (queries.around.COUNTS_THROUGH_INCOMING,),
}
_HUB = {Direction.OUTGOING: queries.around.HUB_AND_TAILS, Direction.INCOMING: queries.around.HUB_AND_HEADS}
_EXAMPLES = {Direction.OUTGOING: queries.around.EXAMPLE_TAILS, Direction.INCOMING: queries.around.EXAMPLE_HEADS}
_EXAMPLES_THROUGH = {
    Direction.OUTGOING: queries.around.EXAMPLE_TAILS_THROUGH,
    Direction.INCOMING: queries.around.EXAMPLE_HEADS_THROUGH,
}


class RelationReader:
    """Answers `relations` for one set of nodes in one direction, within one job."""

    def __init__(
        self, builder: Builder, nodes: Sequence[int], direction: Direction, far_ends: TailKind | None = None
    ) -> None:
        self._builder = builder
        self._session = builder.session
        self._nodes = json.dumps(list(nodes))
        self._single = nodes[0] if len(nodes) == 1 else None
        self._direction = direction
        self._far_ends = far_ends

    def page(self, *, hops: int, examples: int, limit: int) -> Page[RelationFacts]:
        """The relations ordered by id, with counts and examples of those that are shown."""
        counts, known = self._counted_with_ends(examples)
        through = self.counts_through() if hops == 2 else Counter[Path]()
        near = 0 if self._direction is Direction.OUTGOING else 1
        mediated = {(path[near],) for path in through}
        counts.update(through)
        if self._far_ends is not None:
            counts = self._only(self._far_ends, counts)
        named = sorted((self._builder.path(path).id, path) for path in counts)
        shown = named[:limit]
        far_ends = known or self._far_nodes([path for _, path in shown], examples)
        items: list[RelationFacts] = []
        for _, path in shown:
            relation = self._builder.path(path)
            parts = (relation,) if len(path) == 1 else tuple(map(self._builder.relation, path))
            found = self._examples(path, far_ends.get(path, ()), examples) if examples else ()
            count = Count(counts[path])
            items.append(RelationFacts(relation, self._direction, count, parts, found, path in mediated))
        positions = tuple(relation for relation, _ in shown)
        stop = Stop.LIMIT if len(named) > len(shown) else Stop.COMPLETE
        return Page(tuple(items), positions, Count(len(named)), stop)

    def _counted_with_ends(self, examples: int) -> tuple[Counter[Path], dict[Path, list[Entity]]]:
        """The rows of each one-hop relation; at a hub with the nodes that are its examples, by the same query."""
        ends: dict[Path, list[Entity]] = defaultdict(list)
        if self._single is None or not examples or self._far_ends is not None:
            return self.counts(), ends
        counts = Counter[Path]()
        for relation, count, key, label, mediator in self._session.all(_HUB[self._direction], self._single, examples):
            path = (relation,)
            counts[path] = counted(count)
            if key is not None:
                ends[path].append(self._builder.entity(key, label, mediator))
        return (counts, ends) if counts else (self.counts(), ends)

    def counts(self) -> Counter[Path]:
        """Rows of each one-hop relation."""
        hubs = self._session.all(queries.around.HUB_COUNTS, self._nodes, _SIDE[self._direction])
        counts = Counter[Path]({(relation,): counted(count) for relation, count in hubs})
        if counts and self._single is not None:
            return counts  # one node that is a hub has no rows below the floor
        self._add(counts, self._session.all(_EDGES[self._direction], self._nodes))
        if self._direction is Direction.OUTGOING:
            self._add(counts, self._session.all(queries.around.ATTRIBUTE_COUNTS, self._nodes))
        return counts

    def counts_through(self) -> Counter[Path]:
        """Rows of each two-hop relation through mediators, without the ways back to where they started."""
        counts = Counter[Path]()
        if not self._builder.catalogue.has_mediators(self._session):
            return counts
        self._add(counts, self._session.all(queries.around.HUB_COUNTS_THROUGH, self._nodes, _SIDE[self._direction]))
        for query in _THROUGH[self._direction]:
            self._add(counts, self._session.all(query, self._nodes))
        return counts

    def literals(self, path: Path) -> int:
        """How many of a path's rows have a literal as far end."""
        if self._direction is Direction.INCOMING or not self._builder.relation_entries[path[-1]].attributes:
            return 0
        row = self._session.one(
            queries.around.LITERAL_COUNT if len(path) == 1 else queries.around.LITERAL_COUNT_THROUGH, self._nodes, *path
        )
        return row[0] if row is not None else 0

    def _only(self, far_ends: TailKind, counts: Counter[Path]) -> Counter[Path]:
        """The counts of the rows that end at literals, or of the others; a relation without any is left out."""
        literals = Counter({path: self.literals(path) for path in counts})
        if any(count < max(literals[path], 1) for path, count in counts.items()):
            raise ValueError("rows are there that were not counted")  # what the file says of itself is damaged
        return +literals if far_ends is TailKind.LITERAL else counts - literals

    @staticmethod
    def _add(counts: Counter[Path], rows: list[Row]) -> None:
        for *path, count in rows:
            counts[tuple(path)] += counted(count)

    def _far_nodes(self, paths: Sequence[Path], wanted: int) -> dict[Path, list[Entity]]:
        """The first nodes at the far ends of the one-hop relations, read for all of them at once."""
        found: dict[Path, list[Entity]] = defaultdict(list)
        ask = [path[0] for path in paths if len(path) == 1 and self._builder.relation_entries[path[0]].edges]
        if wanted and ask and self._far_ends is not TailKind.LITERAL:
            rows = self._session.all(_EXAMPLES[self._direction], self._nodes, json.dumps(ask), wanted)
            for relation, key, label, mediator in rows:
                found[(relation,)].append(self._builder.entity(key, label, mediator))
        return found

    def _examples(self, path: Path, nodes: Sequence[Entity], wanted: int) -> tuple[Node, ...]:
        """The first distinct far ends in the order of `neighbours`: literals, then nodes."""
        last = self._builder.relation_entries[path[-1]]
        outgoing = self._direction is Direction.OUTGOING
        if len(path) == 1 and not (outgoing and last.attributes):
            return tuple(nodes)
        found: list[Node] = []
        if outgoing and last.attributes and self._far_ends is not TailKind.ENTITY:
            query = queries.around.EXAMPLE_ATTRIBUTES if len(path) == 1 else queries.around.EXAMPLE_ATTRIBUTES_THROUGH
            rows = self._session.all(query, self._nodes, *path, wanted)
            found += [self._builder.literal(text, datatype, language) for text, datatype, language in rows]
        if len(path) == 2 and len(found) < wanted and last.edges and self._far_ends is not TailKind.LITERAL:
            rows = self._session.all(_EXAMPLES_THROUGH[self._direction], self._nodes, *path, wanted - len(found))
            nodes = [self._builder.entity(key, label, mediator) for _, key, label, mediator in rows]
        return (*found, *nodes)[:wanted]
