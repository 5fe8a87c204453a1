"""Writes the edges of plans where an edge is a triple between nodes, or leads through a mediator."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Sequence

from rdflib import XSD, Literal, URIRef

from kgnav_mcp.adapters.sparql_base.names import Naming
from kgnav_mcp.adapters.sparql_base.plans import queries
from kgnav_mcp.adapters.sparql_base.plans.parts import EdgeVariables, cannot_express
from kgnav_mcp.adapters.sparql_base.plans.writing import Writer
from kgnav_mcp.adapters.sparql_base.query_reader import Reader
from kgnav_mcp.adapters.sparql_base.terms import Fragment, comma_separated, values
from kgnav_mcp.port.pattern_queries import Bound
from kgnav_mcp.values.scalars import NUMBERS

Path = tuple[URIRef, ...]
_NUMBERS = comma_separated(*(XSD[kind] for kind in sorted(NUMBERS)))


class TripleWriter(Writer):
    """Writes patterns over triples."""

    def __init__(self, reader: Reader, naming: Naming, mediator: str, *, types: int = 1) -> None:
        """`mediator` is the condition that `$via` is a mediator."""
        super().__init__(reader, naming, types=types)
        self._mediator = mediator
        self._paths: dict[str, Path] = {}

    @abstractmethod
    async def _shown_relations(self) -> Collection[URIRef]:
        """The known relations of the graph that are shown."""

    async def load_relations(self, relations: Iterable[str]) -> None:
        for relation in relations:
            if relation not in self._paths:
                self._paths[relation] = await self._path(relation)

    async def _path(self, relation: str) -> Path:
        """The hops of a relation id: one, or two joined by a dot."""
        dots = [position for position, character in enumerate(relation) if character == "."]
        known = await self._shown_relations() if dots else {self.term(relation)}
        for form in ([relation], *([relation[:dot], relation[dot + 1 :]] for dot in dots)):
            path = tuple(iri for hop in form if (iri := self._naming.iri(hop)) is not None and iri in known)
            if len(path) == len(form):
                return path
        raise cannot_express(f"the relation {relation}")

    def edge(self, relations: Sequence[str], ends: EdgeVariables) -> tuple[Fragment, tuple[Fragment, ...]]:
        paths = [self._paths[relation] for relation in relations]
        if len(paths) == 1 and len(paths[0]) == 2:
            near, far = paths[0]
            via = ends.own("m")
            mediator = self.part(self._mediator, via=via)
            terms = {"source": ends.source, "target": ends.target, "via": via, "mediator": mediator}
            return self.part(queries.TWO_HOPS, near=near, far=far, **terms), (via,)
        if any(len(path) == 2 for path in paths):
            raise cannot_express("one of several relations, some of which lead through mediators")
        if len(paths) == 1:
            return self.part(queries.EDGE, source=ends.source, relation=paths[0][0], target=ends.target), ()
        relation = ends.own("p")
        edge = self.part(queries.EDGE, source=ends.source, relation=relation, target=ends.target)
        among = self._restricted(relation, [path[0] for path in paths])
        return Fragment(f"{among.text} {edge.text}".strip()), (relation,)

    def is_tail(self, node: Fragment) -> Fragment:
        return self.part(queries.NO_VALUE, node=node)

    def _restricted(self, relation: Fragment, iris: Sequence[URIRef]) -> Fragment:
        """The pattern that restricts an edge to some relations; without any, to those that are shown."""
        return self.part(queries.AMONG, relation=relation, relations=values(*iris)) if iris else Fragment("")

    def reaching(self, relations: Sequence[str], ends: EdgeVariables) -> Fragment:
        paths = [self._paths[relation] for relation in relations]
        if not paths or any(len(path) == 2 for path in paths):
            raise cannot_express("paths of any relation, or through mediators")
        relation = Fragment("|".join(path[0].n3() for path in paths))
        return self.part(queries.REACHES, source=ends.source, relations=relation, target=ends.target)

    def number(self, node: Fragment, relations: Sequence[str], bounds: Sequence[Bound]) -> Fragment:
        tests = [
            self.part(queries.WITHIN, sign=Fragment(comparison), number=Literal(number)).text
            for comparison, number in bounds
        ]
        return self.part(
            queries.HAS_NUMBER,
            node=node,
            relations=values(*self.terms(relations)),
            numbers=_NUMBERS,
            within=Fragment(" && ".join(tests)),
        )
