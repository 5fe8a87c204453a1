"""The relations of a set of entities, each with its count and a few far ends as examples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest

from rdflib import URIRef

from kgnav_mcp.adapters.paging.counts import far_relation, merge_counts, near_relation, paths_in_order, relations_page
from kgnav_mcp.adapters.paging.directions import RelationRequest
from kgnav_mcp.adapters.sparql_base.around import queries
from kgnav_mcp.adapters.sparql_base.around.blocks import End
from kgnav_mcp.adapters.sparql_base.around.counts import Anchor, CountReader, Counts, Path
from kgnav_mcp.adapters.sparql_base.around.rows import Store
from kgnav_mcp.adapters.sparql_base.names import Names
from kgnav_mcp.adapters.sparql_base.query_reader import number_in
from kgnav_mcp.adapters.sparql_base.results import Term
from kgnav_mcp.adapters.sparql_base.terms import Fragment, values
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.model import Entity, Page, RelationFacts, Stop

_MAX_ANCHORS = 20
"""Maximum number of entities whose far ends are read as examples."""


@dataclass(frozen=True, slots=True)
class ExampleEnds:
    """The first distinct far ends of each path, and why some may be missing."""

    found: Mapping[Path, Sequence[End]] = field(default_factory=dict[Path, Sequence[End]])
    stop: Stop = Stop.COMPLETE

    def __or__(self, other: ExampleEnds) -> ExampleEnds:
        return ExampleEnds({**self.found, **other.found}, Stop.first((self.stop, other.stop)))


class RelationReader(ABC):
    """Answers the verb `relations`."""

    mediator: Fragment
    """The condition that `?m` is a mediator."""

    def __init__(self, store: Store, names: Names, counts: CountReader) -> None:
        self._reader = store.reader
        self._names = names
        self._counts = counts

    async def page(self, anchors: Sequence[Anchor], request: RelationRequest) -> Page[RelationFacts]:
        """The relations ordered by id with their counts, and with example far ends for those on the page.

        The examples of one-hop relations are read while the two-hop relations are counted.
        """
        counts = await self._counts.one_hop(anchors, request.direction, request.far_end_kind)
        relation_paths = await in_thread(len(anchors), lambda: paths_in_order(counts, self._ids))
        if request.hops == 1:
            ends = await self._far_ends(counts, relation_paths[: request.limit], request)
        else:
            ends, through = await gathered(
                self._far_ends(counts, relation_paths[: request.limit], request),
                self._counts.two_hops(anchors, request.direction, request.far_end_kind),
            )
            counts = await in_thread(len(anchors), lambda one_hop=counts: merge_counts([one_hop, through]))
            relation_paths = await in_thread(len(anchors), lambda: paths_in_order(counts, self._ids))
            ends |= _mediator_examples(counts, request)
            missing = [path for path in relation_paths[: request.limit] if path not in ends.found]
            ends |= await self._far_ends(counts, missing, request)
        shown = relation_paths[: request.limit]
        terms = [end for path in shown for end in ends.found.get(path, ()) if not isinstance(end, Entity)]
        names, nodes = await gathered(
            self._names.relations(relation for path in shown for relation in path), self._names.nodes(terms)
        )
        examples = {
            path: [end if isinstance(end, Entity) else nodes[end] for end in ends.found.get(path, ())] for path in shown
        }
        return await in_thread(
            len(anchors),
            lambda: relations_page(
                counts,
                request.direction,
                relation_paths=relation_paths,
                limit=request.limit,
                names=names,
                printed=self.printed,
                examples=examples,
                stop=ends.stop,
            ),
        )

    def printed(self, anchor: Anchor) -> str:
        """The printed id of an entity."""
        return self._names.naming.short(str(anchor))

    async def _far_ends(self, counts: Counts, relation_paths: Sequence[Path], request: RelationRequest) -> ExampleEnds:
        """The first far ends of some paths; empty if no examples are wanted."""
        return (
            await self._examples(counts, relation_paths, request)
            if request.examples and relation_paths
            else ExampleEnds()
        )

    @abstractmethod
    async def _examples(self, counts: Counts, relation_paths: Sequence[Path], request: RelationRequest) -> ExampleEnds:
        """Read the first far ends of paths. There is at least one path, and at least one example is wanted."""

    async def _of_some(self, counts: Counts, relation_paths: Sequence[Path], request: RelationRequest) -> ExampleEnds:
        """Read the first far ends of all paths in one union, at some of the entities with IRIs."""
        size = len(counts.rows)
        branches = await in_thread(size, lambda: self._branches(counts.by_path_and_entity(), relation_paths, request))
        found: dict[Path, list[Term]] = defaultdict(list)
        read = await self._reader.union(branches)
        for row in read.rows:
            found[relation_paths[number_in(row, "number")]].append(row["o"])
        return ExampleEnds(found, read.stop)

    def _branches(
        self, rows: Mapping[Path, Collection[Anchor]], relation_paths: Sequence[Path], request: RelationRequest
    ) -> list[str]:
        """The branches of that union. `rows` are the entities that have rows of each path."""
        kind, direction = self._counts.far_end_filter(request.direction, request.far_end_kind), request.direction
        branches: list[str] = []
        for place, path in enumerate(relation_paths):
            iris = nsmallest(
                _MAX_ANCHORS, (entity for entity in rows.get(path, ()) if isinstance(entity, URIRef)), key=str
            )
            if not iris:
                continue
            if len(path) == 2:
                hops = {
                    "near": near_relation(path, direction),
                    "far": far_relation(path, direction),
                    "mediator": self.mediator,
                }
                pattern = self._reader.part(queries.THROUGH_BY[direction], s=values(*iris), **hops)
            elif len(iris) == 1:
                pattern = self._reader.part(queries.BY_ONE[direction], s=iris[0], p=path[0])
            else:
                pattern = self._reader.part(queries.BY[direction], s=values(*iris), p=path[0])
            branches.append(
                self._reader.filled(queries.EXAMPLES, number=place, by=pattern, kind=kind, wanted=request.examples)
            )
        return branches

    def _ids(self, path: Path) -> tuple[str, ...]:
        return tuple(map(self._names.naming.short, path))


def _mediator_examples(counts: Counts, request: RelationRequest) -> ExampleEnds:
    """Use known mediators as examples of the relations that lead to them, if enough are known."""
    found: dict[Path, dict[Term, None]] = defaultdict(dict)
    for path, mediators in sorted(counts.mediators.items()):
        for mediator in mediators:
            if isinstance(mediator, URIRef):
                found[near_relation(path, request.direction),][mediator] = None
    return ExampleEnds(
        {
            path: list(examples)[: request.examples]
            for path, examples in found.items()
            if len(examples) >= request.examples
        }
    )
