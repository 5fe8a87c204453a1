"""How edges and labels of plans are written for any endpoint: triples whose tail is a node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kgnav_mcp.adapters.endpoint import queries
from kgnav_mcp.adapters.endpoint.catalogue import CatalogueCache
from kgnav_mcp.adapters.endpoint.store import Store
from kgnav_mcp.adapters.sparql.names import Naming
from kgnav_mcp.adapters.sparql.plans.writing import Ends, Writer, no_words
from kgnav_mcp.adapters.sparql.terms import Terms, listed, values


class PatternWriter(Writer):
    """Writes patterns over graphs without statements about triples."""

    def __init__(self, store: Store, naming: Naming, catalogues: CatalogueCache) -> None:
        super().__init__(store.reader, naming)
        self._store = store
        self._catalogues = catalogues

    async def know(self, relations: Iterable[str]) -> None:
        if self._store.reification:
            raise no_words("statements about triples")
        if any("." in relation for relation in relations):
            known = (await self._catalogues.get()).relations
            for relation in relations:
                if "." in relation and self.term(relation) not in known:
                    raise no_words(f"the relation {relation}, which may lead through mediators,")

    def edge(self, relations: Sequence[str], ends: Ends) -> tuple[Terms, tuple[Terms, ...]]:
        iris = self.terms(relations)
        if len(iris) == 1:
            return self.part(queries.EDGE, source=ends.source, relation=iris[0], target=ends.target), ()
        relation = ends.own("p")
        among = self.part(queries.AMONG, relation=relation, relations=values(*iris)) if iris else Terms("")
        edge = self.part(queries.EDGE, source=ends.source, relation=relation, target=ends.target)
        return Terms(f"{among.text} {edge.text}".strip()), (relation,)

    def labelled(self, node: Terms, labels: Sequence[str]) -> Terms:
        types = self.terms(labels)
        if len(types) == len(self._store.types) == 1:
            return self.part(queries.LABELLED, node=node, type=types[0])
        return self.part(queries.WITH_LABEL, condition=self.has_label(node, labels))

    def has_label(self, node: Terms, labels: Sequence[str]) -> Terms:
        return self.part(queries.HAS_LABEL, node=node, types=listed(*self.terms(labels)))
