"""What a graph is made of, or the part of it around one type or relation, by counted and sampled queries."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence

from cachetools import LRUCache
from rdflib import RDF, URIRef

from kgnav_mcp.adapters.endpoint import queries
from kgnav_mcp.adapters.endpoint.catalogue import Catalogue, Catalogues
from kgnav_mcp.adapters.endpoint.names import Names
from kgnav_mcp.adapters.endpoint.reification import NOTATION
from kgnav_mcp.adapters.endpoint.store import Store
from kgnav_mcp.adapters.sparql.catalogue import Use
from kgnav_mcp.adapters.sparql.reading import UNION, Read, address, fits, number, truth, worst
from kgnav_mcp.adapters.sparql.terms import Terms
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Count, Direction, EdgeFacts, LabelFacts, PropertyFacts, Schema, Stop

_KEPT = 2_000
_SAMPLE = 1_000
"""Rows of a relation that are looked at to say what it leads to."""
_NODES = 10_000
"""Nodes of a type that are looked at to say what they have."""
_ENDS = 3
"""Types named at either end of a relation."""
_SHARE_OF_ENDS = 0.05
"""A type that fewer of the sampled ends have is not named."""
_DETAILED = 200
"""Relations and properties, largest first, whose ends and datatypes are looked up."""
_TOGETHER = 20
"""Relations looked up in one query."""
_SHARE = 0.3
"""Of a call's time, for each of these look-ups; without them the schema is still one."""
_SAMPLED = "the labels at the ends of relations and the datatypes of properties are from their first 1,000 rows"
_CUT = "the endpoint's time was over before all of this was read: relations, labels and datatypes may be missing"


class SchemaReader:
    """Answers `schema`. Every list is the largest first; what was read is kept while the graph is open."""

    def __init__(self, store: Store, names: Names, catalogues: Catalogues) -> None:
        self._store = store
        self._names = names
        self._catalogues = catalogues
        self._ends: LRUCache[tuple[URIRef, Direction], tuple[str, ...]] = LRUCache(_KEPT)
        self._datatypes: LRUCache[URIRef, tuple[str, ...]] = LRUCache(_KEPT)
        self._qualifiers: LRUCache[URIRef, tuple[str, ...]] = LRUCache(_KEPT)

    async def overview(self, limit: int) -> Schema:
        """The whole graph."""
        catalogue = await self._catalogues.get()
        return await self._schema(catalogue, catalogue.types, catalogue.relations, limit)

    async def around(self, name: str, limit: int) -> Schema:
        """The part of the graph around all of a name: types, relations or properties.

        Raises:
            UnknownName: nothing of that name is in the graph.
        """
        catalogue = await self._catalogues.get()
        types, relations = catalogue.anything_called(name, self._store.endpoint.ids.iri(name))
        uses = {iri: catalogue.relations[iri] for iri in relations}
        shown = {iri: catalogue.types[iri] for iri in types}
        stop = Stop.COMPLETE
        for type_ in types:
            found, cut = await self._at_type(catalogue, type_)
            uses |= found
            stop = worst((stop, cut))
        return await self._schema(catalogue, shown, uses, limit, stop)

    async def _at_type(self, catalogue: Catalogue, type_: URIRef) -> tuple[dict[URIRef, Use], Stop]:
        """The relations at a type's nodes: to entities with all their triples, properties with the nodes' values."""
        leaving, entering = await asyncio.gather(
            *(
                self._store.reader.select(queries.AT_TYPE[direction], t=type_, sample=_NODES)
                for direction in (Direction.OUTGOING, Direction.INCOMING)
            )
        )
        stop = worst((leaving.stop, entering.stop))
        whole = stop is Stop.COMPLETE and fits(catalogue.types[type_], _NODES)
        found: dict[URIRef, Use] = {}
        for row in (*leaving.rows, *entering.rows):
            iri = URIRef(str(row.get("p", "")))
            use = found.get(iri, Use(Count(0), Count(0)))
            if iri not in catalogue.relations:
                continue
            if truth(row, "l"):
                counted = number(row, "n")
                found[iri] = Use(use.edges, Count(counted) if whole else Count.at_least(counted))
            else:
                found[iri] = Use(catalogue.relations[iri].edges, use.values)
        return found, stop

    async def _schema(
        self,
        catalogue: Catalogue,
        types: Mapping[URIRef, Count],
        uses: Mapping[URIRef, Use],
        limit: int,
        stop: Stop = Stop.COMPLETE,
    ) -> Schema:
        def size(count: Count, iri: URIRef) -> tuple[int, str]:
            return -count.value, catalogue.names[iri].id

        edges = sorted((iri for iri, use in uses.items() if use.has_edges), key=lambda iri: size(uses[iri].edges, iri))
        properties = sorted(
            (iri for iri, use in uses.items() if use.has_values), key=lambda iri: size(uses[iri].values, iri)
        )
        edges, properties = edges[:limit], properties[:limit]
        detailed = edges[:_DETAILED]
        (
            (heads, no_heads),
            (tails, no_tails),
            (qualifiers, no_qualifiers),
            (datatypes, no_datatypes),
        ) = await asyncio.gather(
            self._end_types(detailed, Direction.OUTGOING),
            self._end_types(detailed, Direction.INCOMING),
            self._qualifiers_of(detailed),
            self._datatypes_of(properties[:_DETAILED]),
        )
        labels = sorted(types, key=lambda iri: size(types[iri], iri))[:limit]
        names = catalogue.names
        cut = _CUT if Stop.TIME_OUT in (stop, no_heads, no_tails, no_qualifiers, no_datatypes) else None
        return Schema(
            entities=Count.unknown(),
            triples=catalogue.triples,
            labels=tuple(LabelFacts(names[iri].id, names[iri].label, types[iri]) for iri in labels),
            relations=tuple(
                EdgeFacts(names[iri], uses[iri].edges, heads.get(iri, ()), tails.get(iri, ()), qualifiers.get(iri, ()))
                for iri in edges
            ),
            properties=tuple(PropertyFacts(names[iri], uses[iri].values, datatypes.get(iri, ())) for iri in properties),
            sampled="; ".join(note for note in (_SAMPLED, catalogue.sampled, cut) if note),
        )

    async def _end_types(
        self, relations: Sequence[URIRef], direction: Direction
    ) -> tuple[dict[URIRef, tuple[str, ...]], Stop]:
        """The types at one end of relations, most frequent first, kept where all were read."""
        known = {iri: self._ends.get((iri, direction)) for iri in relations}
        missing = [iri for iri in relations if known[iri] is None]
        read = await self._looked_up(queries.END_TYPES[direction], missing)
        counts: dict[URIRef, dict[URIRef, int]] = defaultdict(dict)
        for row in read.rows:
            if "t" in row:
                counts[missing[number(row, "number")]][address(row, "t")] = number(row, "n")
        names = await self._names.classes(type_ for found in counts.values() for type_ in found)
        for iri in missing:
            found = counts.get(iri, {})
            order = sorted(found, key=lambda type_, found=found: (-found[type_], type_))
            least = _SHARE_OF_ENDS * max(found.values(), default=0)
            often = [names[type_].label for type_ in order if found[type_] >= least]
            known[iri] = tuple(often[:_ENDS])
            if read.stop is Stop.COMPLETE:
                self._ends[iri, direction] = tuple(often[:_ENDS])
        return {iri: types or () for iri, types in known.items()}, read.stop

    async def _datatypes_of(self, properties: Sequence[URIRef]) -> tuple[dict[URIRef, tuple[str, ...]], Stop]:
        """The datatypes of properties, most frequent first, kept where all were read."""
        ids = self._store.endpoint.ids
        known = {iri: self._datatypes.get(iri) for iri in properties}
        missing = [iri for iri in properties if known[iri] is None]
        counts: dict[URIRef, dict[str, int]] = defaultdict(dict)
        read = await self._looked_up(queries.DATATYPES, missing)
        for row in read.rows:
            if "number" in row and number(row, "n"):
                datatype = ids.datatype(str(row["d"]) if "d" in row else None)
                found = counts[missing[number(row, "number")]]
                found[datatype or "xsd:string"] = found.get(datatype or "xsd:string", 0) + number(row, "n")
        for iri in missing:
            found = counts.get(iri, {})
            known[iri] = often = tuple(sorted(found, key=lambda name, found=found: (-found[name], name)))
            if read.stop is Stop.COMPLETE:
                self._datatypes[iri] = often
        return {iri: datatypes or () for iri, datatypes in known.items()}, read.stop

    async def _qualifiers_of(self, relations: Sequence[URIRef]) -> tuple[dict[URIRef, tuple[str, ...]], Stop]:
        """What statements about the triples of relations say, by id, kept where all were read."""
        reification = self._store.reification
        if not reification:
            return {}, Stop.COMPLETE
        known = {iri: self._qualifiers.get(iri) for iri in relations}
        missing = [iri for iri in relations if known[iri] is None]
        found: dict[URIRef, set[URIRef]] = defaultdict(set)
        stops: dict[URIRef, Stop] = {}
        for n, iri in enumerate(missing):
            branch = self._store.reader.filled(
                queries.QUALIFIERS_OF, number=n, p=iri, said=reification.said("?s", iri, "?o"), sample=_SAMPLE
            )
            read = await self._within_time([branch])
            stops[iri] = read.stop
            for row in read.rows:
                qualifier = address(row, "q")
                if qualifier not in NOTATION and qualifier != RDF.type:
                    found[iri].add(qualifier)
        names = await self._names.relations(one for some in found.values() for one in some)
        for iri in missing:
            known[iri] = ids = tuple(sorted(names[one].id for one in found[iri]))
            if stops[iri] is Stop.COMPLETE:
                self._qualifiers[iri] = ids
        return {iri: qualifiers or () for iri, qualifiers in known.items()}, worst(stops.values())

    async def _looked_up(self, template: str, relations: Sequence[URIRef]) -> Read:
        reader = self._store.reader
        return await self._within_time(
            [reader.filled(template, number=place, p=iri, sample=_SAMPLE) for place, iri in enumerate(relations)]
        )

    async def _within_time(self, branches: Sequence[str]) -> Read:
        """Rows of a union in a share of the time, and whether that was over before all of them were there."""
        reads: list[Read] = []
        for start in range(0, len(branches), _TOGETHER):
            try:
                part = Terms(" UNION ".join(branches[start : start + _TOGETHER]))
                reads.append(await self._store.reader.select(UNION, share=_SHARE, branches=part))
            except StoreTimeout:
                return Read.together([*reads, Read((), Stop.TIME_OUT)])
        return Read.together(reads)
