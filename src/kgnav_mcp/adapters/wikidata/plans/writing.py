"""How patterns of plans are written for a Wikibase: an edge is a statement whose value is an entity."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rdflib import URIRef

from kgnav_mcp.adapters.sparql.names import Naming
from kgnav_mcp.adapters.sparql.plans.parts import Ends, no_words
from kgnav_mcp.adapters.sparql.plans.writing import Writer
from kgnav_mcp.adapters.sparql.terms import Terms
from kgnav_mcp.adapters.wikidata.catalogue import CatalogueCache
from kgnav_mcp.adapters.wikidata.plans import queries
from kgnav_mcp.adapters.wikidata.plans.qualifiers import QualifierWriter
from kgnav_mcp.adapters.wikidata.store import Store
from kgnav_mcp.port import QualifierAsked


class PatternWriter(Writer):
    """Writes patterns over the statements that are shown, or in a truthy copy over its triples."""

    def __init__(self, store: Store, naming: Naming, catalogues: CatalogueCache) -> None:
        super().__init__(store.reader, naming)
        self._qualifiers = QualifierWriter(store, catalogues)
        self._ids = store.ids
        store.reader.know({"typed": store.ids.direct(store.wikidata.instance_of)})
        self._statements = store.form.statements
        self._every_rank = store.wikidata.every_rank

    async def know(self, relations: Iterable[str]) -> None:
        for relation in relations:
            self._property(relation)

    def edge(self, relations: Sequence[str], ends: Ends) -> tuple[Terms, tuple[Terms, ...]]:
        if len(relations) != 1:
            raise no_words("edges of several relations, or of any")
        local = self._property(relations[0])
        if not self._statements:
            return self._part(queries.TRUTHY_EDGE, ends, direct=self._ids.direct(local)), ()
        statement = ends.own("s")
        own = {"statement": statement, "rank": ends.own("k")} if self._every_rank else {"statement": statement}
        ranked = self.part(queries.RANK_OF if self._every_rank else queries.BEST_OF, **own)
        terms = {"claim": self._ids.claim(local), "p": self._ids.value(local), "statement": statement, "ranked": ranked}
        return self._part(queries.STATED_EDGE, ends, **terms), (statement,)

    def reaching(self, relations: Sequence[str], ends: Ends) -> Terms:
        if self._every_rank or not relations:
            raise no_words("paths of statements of any rank, or of any relation")
        direct = [self._ids.direct(self._property(relation)).n3() for relation in relations]
        return self._part(queries.REACHES, ends, relations=Terms("|".join(direct)))

    def qualifier(self, ends: Ends, asked: QualifierAsked, value: Terms) -> Terms:
        if not self._statements:
            raise no_words("qualifiers")
        names = [self._property(name) for name in asked.owned.ids]
        statement = ends.own("s")
        if asked.node is not None:
            return self._qualifiers.joined(statement, names, value)
        return self._qualifiers.equal(statement, names, value, asked.values)

    def _part(self, template: str, ends: Ends, **terms: URIRef | Terms) -> Terms:
        return self.part(template, source=ends.source, target=ends.target, **terms)

    def _property(self, relation: str) -> str:
        local = self._ids.property(relation)
        if local is None:
            raise no_words(f"the relation {relation}")
        return local
