"""The words of a graph: which labels, relations and properties a plan may name, and what it may call them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from kgnav_mcp.errors import UnknownName
from kgnav_mcp.model import Count, EdgeFacts, LabelFacts, PropertyFacts, QualifierFacts, Schema
from kgnav_mcp.navigation.plans.kinds import is_of_languages, kinds_of
from kgnav_mcp.navigation.resolving import called, nearest_names
from kgnav_mcp.port import Capability, GraphAdapter

_EVERYTHING = 1_000_000
"""More labels or relations than any graph has."""
_OFFERED = 5

_T = TypeVar("_T")
_Called = tuple[str, str]
"""An id and a label: what a user may call a thing."""


def _label(facts: LabelFacts) -> tuple[str, str]:
    return facts.id, facts.label


def _relation(facts: EdgeFacts | PropertyFacts) -> tuple[str, str]:
    return facts.relation.id, facts.relation.label


@dataclass(slots=True)
class Vocabulary:
    """The labels, relations and properties of one graph. What is around a single one is read when it is asked for."""

    graph: GraphAdapter
    whole: Schema
    _around: dict[str, Schema | None] = field(default_factory=dict[str, Schema | None])

    @classmethod
    async def of(cls, graph: GraphAdapter) -> Vocabulary:
        """Read the schema of the graph."""
        return cls(graph, await graph.schema(limit=_EVERYTHING))

    async def labels(self, name: str) -> tuple[str, ...]:
        """The ids of the labels that a name means."""
        return await self._called(name, lambda schema: schema.labels, _label)

    async def whole_label(self, *parts: str) -> str | None:
        """The label that two names are where they are one id without its backticks, as in `:wd:Q5`; else None."""
        whole = ":".join(parts)
        two_names = whole.count(":") != 1 or await self.labels(parts[0])
        return whole if not two_names and await self.labels(whole) else None

    async def relations(self, name: str) -> tuple[str, ...]:
        """The ids of the relations between nodes that a name means. `rel1.rel2` leads through mediators."""
        found = await self._called(name, lambda schema: schema.relations, _relation)
        if found or Capability.MEDIATORS not in self.graph.capabilities:
            return found
        known = {facts.relation.id for facts in self.whole.relations}
        dots = (place for place, character in enumerate(name) if character == ".")
        return (name,) if any(name[:at] in known and name[at + 1 :] in known for at in dots) else ()

    async def properties(self, name: str) -> tuple[str, ...]:
        """The ids of the properties of nodes that a name means."""
        return await self._called(name, lambda schema: schema.properties, _relation)

    async def _called(
        self, name: str, listed: Callable[[Schema], Sequence[_T]], words: Callable[[_T], tuple[str, str]]
    ) -> tuple[str, ...]:
        found = called(name, listed(self.whole), words)
        if not found and self.whole.sampled and (around := await self.around(name)):
            found = called(name, listed(around), words)
        return tuple(dict.fromkeys(words(each)[0] for each in found))

    async def around(self, name: str) -> Schema | None:
        """The part of the schema around a label or relation; None where there is none."""
        if name not in self._around:
            try:
                self._around[name] = await self.graph.schema(name, limit=_EVERYTHING)
            except UnknownName:
                self._around[name] = None
        return self._around[name]

    async def qualifiers(self, relations: Sequence[str]) -> tuple[str, ...]:
        """The names of the properties that edges of these relations have; with none, those of any that are known."""
        return tuple(dict.fromkeys(facts.id for facts in await self._qualifiers(relations)))

    async def qualifier_kinds(self, relations: Sequence[str], qualifiers: Sequence[str]) -> frozenset[str]:
        """What the values of edges' properties are, as `kinds_of` says it; empty: it is not known."""
        if not relations and self.whole.sampled:
            return frozenset()  # a sample does not tell the qualifiers of every relation
        facts = [each for each in await self._qualifiers(relations) if each.id in qualifiers]
        return kinds_of(each.datatypes for each in facts) if facts else self.value_kinds(qualifiers)

    async def _qualifiers(self, relations: Sequence[str]) -> list[QualifierFacts]:
        found = [facts for facts in self.whole.relations if not relations]
        for relation in relations:
            around = await self.around(relation)
            found += [facts for facts in (around.relations if around else ()) if facts.relation.id == relation]
        return [qualifier for facts in found for qualifier in facts.qualifiers]

    async def properties_at(self, labels: Sequence[str]) -> tuple[frozenset[str], bool]:
        """The properties that nodes of some labels have, and whether these are all; else they are those of a sample."""
        schemas = await self._at(labels)
        found = frozenset(facts.relation.id for schema in schemas for facts in schema.properties)
        return found, len(schemas) == len(labels) and not any(schema.sampled for schema in schemas)

    def nodes_of(self, labels: Sequence[str]) -> Count:
        """How many nodes have one of some labels."""
        return Count.sum([facts.count for facts in self.whole.labels if facts.id in labels])

    async def relations_at(self, labels: Sequence[str]) -> list[str]:
        """The ids of the relations at nodes of these labels, in either direction."""
        return [facts.relation.id for schema in await self._at(labels) for facts in schema.relations]

    async def _at(self, labels: Sequence[str]) -> list[Schema]:
        return [schema for label in labels if (schema := await self.around(label))]

    def leads(self, relation: str, heads: Sequence[str], tails: Sequence[str]) -> bool:
        """Whether the schema says already that a relation leads from one of some labels to one of others.

        No labels are any. False where it does not say so: it lists the most frequent labels only.
        """
        for facts in self.whole.relations:
            if facts.relation.id == relation:
                return self._among(heads, facts.heads) and self._among(tails, facts.tails)
        return False

    def _among(self, labels: Sequence[str], names: Sequence[str]) -> bool:
        if not labels or any(label in names for label in labels):
            return True
        return any(facts.id in labels and facts.label in names for facts in self.whole.labels)

    def value_kinds(self, properties: Sequence[str]) -> frozenset[str]:
        """What the values of properties of nodes are, as `kinds_of` says it; empty: it is not known."""
        return kinds_of(facts.datatypes for facts in self.whole.properties if facts.relation.id in properties)

    def in_languages(self, properties: Sequence[str]) -> bool:
        """Whether values of these properties are texts of stated languages."""
        facts = (facts for facts in self.whole.properties if facts.relation.id in properties)
        return any(is_of_languages(datatype) for each in facts for datatype in each.datatypes)

    def nearest_label(self, name: str) -> list[str]:
        """The labels most like a name."""
        return _nearest(name, (), map(_label, self.whole.labels))

    async def nearest_relation(self, name: str, labels: Sequence[str]) -> list[str]:
        """The relations most like a name: of those at some labels first."""
        first = [_relation(facts) for schema in await self._at(labels) for facts in schema.relations]
        return _nearest(name, first, map(_relation, self.whole.relations))

    async def nearest_property(self, name: str, labels: Sequence[str], *, only_there: bool = False) -> list[str]:
        """The properties most like a name: of those at some labels first, or only."""
        first = [_relation(facts) for schema in await self._at(labels) for facts in schema.properties]
        return _nearest(name, first, () if only_there else map(_relation, self.whole.properties))


def _nearest(name: str, preferred: Iterable[_Called], known: Iterable[_Called]) -> list[str]:
    """What is called most like a name, each once, by its id or by its label, whichever is more like it."""
    found: dict[str, str] = {}
    for things in map(list, (preferred, known)):
        called_so: dict[str, str] = {}
        for id_, label in things:
            called_so.setdefault(id_, id_)
            called_so.setdefault(label, id_)
        for word in nearest_names(name, list(called_so), 2 * _OFFERED):
            found.setdefault(called_so[word], word)
    return list(found.values())[:_OFFERED]
