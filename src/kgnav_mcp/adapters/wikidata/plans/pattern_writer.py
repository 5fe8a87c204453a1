"""Writes patterns of plans for a Wikibase, where an edge is a statement whose value is an entity."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rdflib import URIRef

from kgnav_mcp.adapters.sparql_base.names import Naming
from kgnav_mcp.adapters.sparql_base.plans.parts import EdgeVariables, cannot_express
from kgnav_mcp.adapters.sparql_base.plans.queries import AMONG
from kgnav_mcp.adapters.sparql_base.plans.writing import Writer
from kgnav_mcp.adapters.sparql_base.terms import MAX_TERMS, Fragment, rows, values
from kgnav_mcp.adapters.wikidata.catalogue import CatalogueCache
from kgnav_mcp.adapters.wikidata.plans import queries
from kgnav_mcp.adapters.wikidata.plans.qualifiers import QualifierWriter
from kgnav_mcp.adapters.wikidata.store import Store
from kgnav_mcp.port.pattern_queries import QualifierCondition


class PatternWriter(Writer):
    """Writes patterns over the statements that are shown; in a truthy copy, over its triples."""

    def __init__(self, store: Store, naming: Naming, catalogues: CatalogueCache) -> None:
        super().__init__(store.reader, naming)
        self._qualifiers = QualifierWriter(store, catalogues)
        self._ids = store.ids
        store.reader.add_known({"typed": store.ids.direct(store.wikidata.instance_of)})
        self._statements = store.form.statements
        self._every_rank = store.wikidata.every_rank

    async def load_relations(self, relations: Iterable[str]) -> None:
        for relation in relations:
            self._property(relation)

    def edge(self, relations: Sequence[str], ends: EdgeVariables) -> tuple[Fragment, tuple[Fragment, ...]]:
        # Oxigraph evaluates each side of a UNION in full: with either direction, all statements of the relations.
        names = [self._property(relation) for relation in relations]
        if len(names) > MAX_TERMS // 2 or (ends.either and len(names) != 1):
            raise cannot_express("edges of so many relations, or of several that may lead either way")
        if not self._statements:
            return self._truthy_edge(names, ends)
        statement = ends.own("s")
        own = {"statement": statement, "rank": ends.own("k")} if self._every_rank else {"statement": statement}
        ranked = self.part(queries.RANK_OF if self._every_rank else queries.BEST_OF, **own)
        claim, value, narrowed = ends.own("p"), ends.own("q"), Fragment("")
        if len(names) == 1:
            claim, value = self._ids.claim(names[0]), self._ids.value(names[0])
        elif names:
            pairs = rows(*((self._ids.claim(name), self._ids.value(name)) for name in names))
            narrowed = self.part(queries.AMONG_PAIRS, claim=claim, p=value, pairs=pairs)
        else:
            narrowed = self.part(queries.OF_ANY, p=value)
        terms = {"claim": claim, "p": value, "statement": statement, "ranked": ranked, "narrowed": narrowed}
        return self._part(queries.STATED_EDGE, ends, **terms), (statement,)

    def _truthy_edge(self, names: Sequence[str], ends: EdgeVariables) -> tuple[Fragment, tuple[Fragment, ...]]:
        """An edge in a copy without statements. Edges with the same ends are told apart by their relation."""
        if len(names) == 1:
            return self._part(queries.TRUTHY_EDGE, ends, direct=self._ids.direct(names[0]), narrowed=Fragment("")), ()
        direct = ends.own("p")
        narrowed = self.part(queries.OF_ANY, p=direct)
        if names:
            narrowed = self.part(AMONG, relation=direct, relations=values(*map(self._ids.direct, names)))
        return self._part(queries.TRUTHY_EDGE, ends, direct=direct, narrowed=narrowed), (direct,)

    def reaching(self, relations: Sequence[str], ends: EdgeVariables) -> Fragment:
        if self._every_rank or not relations:
            raise cannot_express("paths of statements of any rank, or of any relation")
        direct = [self._ids.direct(self._property(relation)).n3() for relation in relations]
        return self._part(queries.REACHES, ends, relations=Fragment("|".join(direct)))

    def qualifier(self, ends: EdgeVariables, asked: QualifierCondition, value: Fragment) -> Fragment:
        if not self._statements:
            raise cannot_express("qualifiers")
        names = [self._property(name) for name in asked.owned.ids]
        statement = ends.own("s")
        if asked.node is not None:
            return self._qualifiers.joined(statement, names, value)
        return self._qualifiers.equal(statement, names, value, asked.values)

    def _part(self, template: str, ends: EdgeVariables, **terms: URIRef | Fragment) -> Fragment:
        return self.part(template, source=ends.source, target=ends.target, **terms)

    def _property(self, relation: str) -> str:
        local = self._ids.property(relation)
        if local is None:
            raise cannot_express(f"the relation {relation}")
        return local
