"""The relations of entities with a few far ends as examples; names are read by the same query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Mapping, Sequence

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.counts import CountReader
from kgnav_mcp.adapters.freebase.names import Names, add_name
from kgnav_mcp.adapters.freebase.store import Store
from kgnav_mcp.adapters.generic_sparql.queries import FAR
from kgnav_mcp.adapters.paging.counts import far_relation
from kgnav_mcp.adapters.paging.directions import RelationRequest
from kgnav_mcp.adapters.sparql_base.around import relations
from kgnav_mcp.adapters.sparql_base.around.counts import Anchor, Counts, Path
from kgnav_mcp.adapters.sparql_base.around.far_ends import End
from kgnav_mcp.adapters.sparql_base.around.queries import AROUND_ONE
from kgnav_mcp.adapters.sparql_base.around.relations import Ends
from kgnav_mcp.adapters.sparql_base.query_reader import iri_in
from kgnav_mcp.adapters.sparql_base.results import Term
from kgnav_mcp.adapters.sparql_base.terms import Fragment
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.model import Stop

_KNOWN_MEDIATORS = 2
"""Maximum number of examples for which the two known mediators of a relation suffice."""
_MAX_ROLES = 5_000
"""Maximum number of rows behind mediators that are read to find examples."""


class RelationReader(relations.RelationReader):
    """Reads far ends. Names in the preferred languages come with the same query and are cached."""

    def __init__(self, store: Store, names: Names, counts: CountReader) -> None:
        super().__init__(store, names, counts)
        self.mediator = store.reader.part(queries.MEDIATOR)

    async def _examples(self, counts: Counts, paths: Sequence[Path], question: RelationRequest) -> Ends:
        known = [path for path in paths if question.examples <= _KNOWN_MEDIATORS and path in counts.mediators]
        others = [path for path in paths if path not in known]
        reads: list[Awaitable[Ends]] = []
        if known:
            reads.append(self._behind(counts, known, question))
        if others and len(counts.rows) == 1 and all(len(path) == 1 for path in others):
            reads.append(self._of_one(URIRef(str(next(iter(counts.rows)))), others, question))
        elif others:
            reads.append(self._of_some(counts, others, question))
        found = Ends()
        for ends in await gathered(*reads):
            found |= ends
        return found

    async def _of_one(self, anchor: URIRef, paths: Sequence[Path], question: RelationRequest) -> Ends:
        """Read the first far ends of an entity's one-hop relations."""
        pattern, kind = (
            self._reader.part(AROUND_ONE[question.direction], s=anchor),
            self._counts.ends(question.direction, question.far_ends),
        )
        ends = [self._reader.filled(queries.FAR_END, by=pattern, kind=kind, skip=n) for n in range(question.examples)]
        called = [self._reader.filled(queries.FAR_END_CALLED, skip=n) for n in range(question.examples)]
        parts = {"far_ends": Fragment(" ".join(ends)), "called": Fragment(" ".join(called))}
        read = await self._reader.in_batches(queries.FIRST_FAR_ENDS, "relations", [path[0] for path in paths], **parts)
        found: dict[Path, Sequence[End]] = {}
        labels: dict[URIRef, list[Literal]] = defaultdict(list)
        names: dict[URIRef, list[Literal]] = defaultdict(list)
        for row in read.rows:
            relation = iri_in(row, "p")
            add_name(names[relation], row.get("called"))
            found[(relation,)] = [row[end] for n in range(question.examples) if (end := f"o{n}") in row]
            for n, end in enumerate(found[(relation,)]):
                if name := row.get(f"called{n}"):
                    add_name(labels[URIRef(str(end))], name)
        await self._cache_names(read.stop, labels, names)
        return Ends(found, read.stop)

    async def _behind(self, counts: Counts, paths: Sequence[Path], question: RelationRequest) -> Ends:
        """Read far ends of an entity's two-hop relations, behind the known mediators."""
        nodes = list(dict.fromkeys(URIRef(str(node)) for path in paths for node in counts.mediators[path]))
        anchor, edge = URIRef(str(next(iter(counts.rows)))), Fragment(FAR[question.direction])
        kind = self._counts.ends(question.direction, question.far_ends)
        read = await self._reader.in_batches(
            queries.ROLES_OF, "ids", nodes, s=anchor, edge=edge, kind=kind, most=_MAX_ROLES
        )
        behind: dict[tuple[Anchor, URIRef], list[Term]] = defaultdict(list)
        labels: dict[URIRef, list[Literal]] = {node: [] for node in nodes}
        names: dict[URIRef, list[Literal]] = defaultdict(list)
        for row in read.rows:
            relation, end = iri_in(row, "far"), row["o"]
            behind[iri_in(row, "m"), relation].append(end)
            add_name(names[relation], row.get("role"))
            if name := row.get("called"):
                add_name(labels.setdefault(URIRef(str(end)), []), name)
        await self._cache_names(read.stop, labels, names)
        found: dict[Path, Sequence[End]] = {}
        for path in paths:
            relation = far_relation(path, question.direction)
            ends = (end for node in counts.mediators[path] for end in sorted(behind[node, relation], key=str))
            found[path] = list(dict.fromkeys(ends))[: question.examples]
        return Ends(found, read.stop)

    async def _cache_names(
        self,
        stop: Stop,
        labels: Mapping[URIRef, Sequence[Literal]],
        relations: Mapping[URIRef, Sequence[Literal]],
    ) -> None:
        """Cache the names of entities and of relations, unless a time-out may have cut some."""
        if stop is not Stop.TIME_OUT:
            await self._names.keep(labels)
            await self._names.keep_relations(relations)
