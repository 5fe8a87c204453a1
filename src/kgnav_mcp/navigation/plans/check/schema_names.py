"""The names in a graph's schema: the labels, relations and properties that a plan may use, with their ids."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from time import monotonic
from typing import TypeVar
from weakref import WeakKeyDictionary

from kgnav_mcp.errors import UnknownName
from kgnav_mcp.model import NODE_VALUES, Count, EdgeFacts, LabelFacts, PropertyFacts, QualifierFacts, Schema
from kgnav_mcp.navigation.plans.check.value_kinds import is_of_languages, kinds_of
from kgnav_mcp.navigation.references import NameIndex, nearest_names
from kgnav_mcp.navigation.relation_lists import likely_path
from kgnav_mcp.port import Capability, GraphAdapter, ValueOwner

_NO_LIMIT = 1_000_000
"""More labels or relations than any graph has."""
_OFFERED = 5
_MAX_AGE = 60.0
"""Seconds after which a cached schema is read again; earlier if a plan does not fit it."""

_T = TypeVar("_T")
_IdAndLabel = tuple[str, str]
"""An id and a label, the names of a thing that a user may write."""


def _label(facts: LabelFacts) -> tuple[str, str]:
    return facts.id, facts.label


def _qualifier(facts: QualifierFacts) -> tuple[str, str]:
    return facts.id, facts.label or facts.id


def _relation(facts: EdgeFacts | PropertyFacts) -> tuple[str, str]:
    return facts.relation.id, facts.relation.label


class Part:
    """A schema, or the part of a schema around one name, with indexes of its names."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.labels = {facts.id: facts for facts in schema.labels}
        self.relations = {facts.relation.id: facts for facts in schema.relations}
        self.properties = {facts.relation.id: facts for facts in schema.properties}

    @cached_property
    def label_names(self) -> NameIndex[LabelFacts]:
        return NameIndex(self.schema.labels, _label)

    @cached_property
    def relation_names(self) -> NameIndex[EdgeFacts]:
        return NameIndex(self.schema.relations, _relation)

    @cached_property
    def property_names(self) -> NameIndex[PropertyFacts]:
        return NameIndex(self.schema.properties, _relation)


@dataclass(frozen=True, slots=True)
class _CachedSchema:
    """The cached schema of a graph, and when it was read."""

    whole: Part
    read_at: float
    around: dict[str, Part | None] = field(default_factory=dict[str, Part | None])


_cache: WeakKeyDictionary[GraphAdapter, _CachedSchema] = WeakKeyDictionary()
"""Cached schemas by graph, as long as the adapter exists."""


class SchemaNames:
    """The labels, relations and properties of one graph. The schema around a single name is read when it is needed."""

    def __init__(self, graph: GraphAdapter, cached: _CachedSchema) -> None:
        self.graph = graph
        self._whole = cached.whole
        self._around = cached.around

    @classmethod
    async def of(cls, graph: GraphAdapter) -> SchemaNames:
        """The names of a graph. Its schema is read, unless it was read less than a minute ago."""
        cached = _cache.get(graph)
        if cached is None or monotonic() - cached.read_at > _MAX_AGE:
            cached = _cache[graph] = _CachedSchema(Part(await graph.schema(limit=_NO_LIMIT)), monotonic())
        return cls(graph, cached)

    async def read_again(self) -> SchemaNames | None:
        """The names of the current schema; None if the schema has not changed."""
        schema = await self.graph.schema(limit=_NO_LIMIT)
        if schema == self.whole:
            return None
        cached = _cache[self.graph] = _CachedSchema(Part(schema), monotonic())
        return SchemaNames(self.graph, cached)

    @property
    def whole(self) -> Schema:
        return self._whole.schema

    @property
    def has_labels(self) -> bool:
        """Whether nodes may have labels. False only if the whole schema was read and has none."""
        return bool(self.whole.labels or self.whole.sampled)

    async def labels(self, name: str) -> tuple[str, ...]:
        """The ids of the labels that a name means."""
        return await self._ids_by_name(name, lambda part: [facts.id for facts in part.label_names.find(name)])

    async def whole_label(self, *parts: str) -> str | None:
        """The label that two names form if they are one id without backticks, as in `:wd:Q5`; otherwise None."""
        whole = ":".join(parts)
        two_names = whole.count(":") != 1 or await self.labels(parts[0])
        return whole if not two_names and await self.labels(whole) else None

    async def relations(self, name: str) -> tuple[str, ...]:
        """The ids of the relations between nodes that a name means. `rel1.rel2` leads through mediators."""
        found = await self._ids_by_name(name, lambda part: _ids(part.relation_names.find(name)))
        if found or Capability.MEDIATORS not in self.graph.capabilities:
            return found
        known = self._whole.relations
        dots = (place for place, character in enumerate(name) if character == ".")
        if any(name[:at] in known and name[at + 1 :] in known for at in dots):
            return (name,)
        halves = likely_path(name)
        return tuple(map(".".join, product(*[await self.relations(half) for half in halves]))) if halves[1:] else ()

    async def properties(self, name: str) -> tuple[str, ...]:
        """The ids of the properties of nodes that a name means."""
        return await self._ids_by_name(name, lambda part: _ids(part.property_names.find(name)))

    async def _ids_by_name(self, name: str, ids: Callable[[Part], list[str]]) -> tuple[str, ...]:
        found = ids(self._whole)
        is_iri_of_one = len(found) > 1 and "://" in name  # others have the same local name
        if (is_iri_of_one or (not found and self.whole.sampled)) and (around := await self._part_around(name)):
            found = ids(around)
        return tuple(dict.fromkeys(found))

    async def _part_around(self, name: str) -> Part | None:
        """The part of the schema around a label or relation; None if the graph has no such name."""
        if name not in self._around:
            try:
                self._around[name] = Part(await self.graph.schema(name, limit=_NO_LIMIT))
            except UnknownName:
                self._around[name] = None
        return self._around[name]

    async def qualifiers(self, relations: Sequence[str]) -> tuple[str, ...]:
        """The ids of the properties of edges of these relations; without relations, those of any edge."""
        return tuple(dict.fromkeys(facts.id for facts in await self._qualifiers(relations)))

    async def qualifier_ids(self, name: str, relations: Sequence[str]) -> tuple[str, ...]:
        """The ids of the properties that a name means, for edges of these relations."""
        known = await self.qualifiers(relations)
        ids = (*await self.properties(name), *await self.relations(name))
        found = [each for each in known if each == name or each in ids]
        if not found:
            found = [facts.id for facts in NameIndex(await self._qualifiers(relations), _qualifier).find(name)]
        if not found and self.whole.sampled:
            found = list(ids)  # a sampled schema may lack qualifiers
        return tuple(dict.fromkeys(found))

    async def qualifier_kinds(self, relations: Sequence[str], qualifiers: Sequence[str]) -> frozenset[str]:
        """The kinds of values of edges' properties, as in `kinds_of`; empty if unknown."""
        if not relations and self.whole.sampled:
            return frozenset()  # a sampled schema may lack qualifiers
        facts = [each for each in await self._qualifiers(relations) if each.id in qualifiers]
        return kinds_of(each.datatypes for each in facts) if facts else self.value_kinds(qualifiers)

    async def _qualifiers(self, relations: Sequence[str]) -> list[QualifierFacts]:
        parts = [await self._part_around(relation) for relation in relations]
        found = [part.relations.get(name) for part, name in zip(parts, relations, strict=True) if part is not None]
        known = found if relations else self.whole.relations
        return [qualifier for facts in known if facts is not None for qualifier in facts.qualifiers]

    async def properties_at(self, labels: Sequence[str]) -> tuple[frozenset[str], bool]:
        """The properties of nodes with one of these labels, and whether the list is complete and not from a sample."""
        parts = await self._parts_around(labels)
        found = frozenset(name for part in parts for name in part.properties)
        return found, len(parts) == len(labels) and not any(part.schema.sampled for part in parts)

    def nodes_of(self, labels: Sequence[str]) -> Count:
        """The number of nodes with one of these labels."""
        return Count.sum([facts.count for facts in _facts_of(self._whole.labels, labels)])

    def label_name(self, label: str) -> str | None:
        """The name of a label that nodes show, by the label's id; None if the schema does not list it."""
        facts = self._whole.labels.get(label)
        return None if facts is None else facts.shown

    def nodes_shown_as(self, names: Collection[str]) -> int:
        """The number of nodes with one of these labels, given by the names that nodes show or by ids."""
        return Count.sum(
            [facts.count for facts in self.whole.labels if facts.shown in names or facts.id in names]
        ).value

    def relation(self, name: str) -> EdgeFacts | None:
        """The facts about a relation, by its id; None if the schema does not list it."""
        return self._whole.relations.get(name)

    def joined(self, relations: Sequence[str], heads: Sequence[str], tails: Sequence[str]) -> int | None:
        """The number of edges of these relations from nodes with these labels to nodes with those (empty: any label).

        None if the schema does not state it.
        """
        shown = [
            {facts.shown for facts in _facts_of(self._whole.labels, labels)} | {*labels} for labels in (heads, tails)
        ]
        found = 0
        for facts in _facts_of(self._whole.relations, relations):
            if not facts.ends or self.whole.sampled:
                return None
            found += sum(
                count.value
                for head, tail, count in facts.ends
                if (not heads or head in shown[0]) and (not tails or tail in shown[1])
            )
        return found

    async def relations_at(self, labels: Sequence[str]) -> list[str]:
        """The ids of the relations at nodes of these labels, in either direction."""
        return [name for part in await self._parts_around(labels) for name in part.relations]

    async def _parts_around(self, labels: Sequence[str]) -> list[Part]:
        return [part for label in labels if (part := await self._part_around(label))]

    def leads(self, relation: str, heads: Sequence[str], tails: Sequence[str]) -> bool:
        """Whether the schema shows that a relation leads from one of the head labels to one of the tail labels.

        Empty means any label. False is not certain: the schema lists the most frequent labels only.
        """
        facts = self._whole.relations.get(relation)
        return facts is not None and self._any_shown_in(heads, facts.heads) and self._any_shown_in(tails, facts.tails)

    def _any_shown_in(self, labels: Sequence[str], names: Sequence[str]) -> bool:
        if not labels or any(label in names for label in labels):
            return True
        return any(facts.shown in names for facts in _facts_of(self._whole.labels, labels))

    def value_kinds(self, properties: Sequence[str]) -> frozenset[str]:
        """The kinds of values of properties of nodes, as in `kinds_of`; empty if unknown."""
        return kinds_of(facts.datatypes for facts in _facts_of(self._whole.properties, properties))

    def are_arrays(self, properties: Sequence[str]) -> bool:
        """Whether these properties of nodes are declared as arrays."""
        return _are_arrays(_facts_of(self._whole.properties, properties))

    def have_several_values(self, properties: Sequence[str]) -> bool:
        """Whether the schema shows that some node has a list of one of these properties."""
        return _have_several_values(_facts_of(self._whole.properties, properties))

    async def qualifiers_are_arrays(self, relations: Sequence[str], qualifiers: Sequence[str]) -> bool:
        """Whether these properties of edges are declared as arrays."""
        return _are_arrays([each for each in await self._qualifiers(relations) if each.id in qualifiers])

    async def qualifiers_have_several_values(self, relations: Sequence[str], qualifiers: Sequence[str]) -> bool:
        """Whether the schema shows that some edge has a list of one of these properties."""
        return _have_several_values([each for each in await self._qualifiers(relations) if each.id in qualifiers])

    async def may_have_several_values(self, properties: Sequence[str], kind: ValueOwner) -> bool:
        """Whether some node or edge has a list of one of these properties, or nothing is known of that."""
        found = [await self.graph.has_several_values(name, kind) for name in properties]
        return any(several is not False for several in found)

    def have_literals_only(self, properties: Collection[str]) -> bool:
        """Whether the schema has these properties with values, none of which are nodes."""
        kinds = self.value_kinds([*properties])
        known = self._whole.properties.keys() >= {*properties} and self._whole.relations.keys().isdisjoint(properties)
        return known and bool(kinds) and NODE_VALUES not in kinds

    def in_languages(self, properties: Sequence[str]) -> bool:
        """Whether values of these properties are texts with a language."""
        facts = _facts_of(self._whole.properties, properties)
        return any(is_of_languages(datatype) for each in facts for datatype in each.datatypes)

    def nearest_label(self, name: str) -> list[str]:
        """The labels most similar to a name."""
        return _nearest(name, (), map(_label, self.whole.labels))

    async def nearest_relation(self, name: str, labels: Sequence[str]) -> list[str]:
        """The relations most similar to a name; those at nodes with these labels come first."""
        first = [_relation(facts) for part in await self._parts_around(labels) for facts in part.schema.relations]
        halves = likely_path(name)
        if len(halves) == 1 or Capability.MEDIATORS not in self.graph.capabilities:
            return _nearest(name, first, map(_relation, self.whole.relations))
        near = [
            await self.relations(half) or _nearest(half, first, map(_relation, self.whole.relations)) for half in halves
        ]
        return list(map(".".join, product(*near)))[:_OFFERED]

    async def nearest_property(self, name: str, labels: Sequence[str], *, only_there: bool = False) -> list[str]:
        """The properties most similar to a name; those of nodes with these labels come first, or are the only ones."""
        first = [_relation(facts) for part in await self._parts_around(labels) for facts in part.schema.properties]
        return _nearest(name, first, () if only_there else map(_relation, self.whole.properties))


def _are_arrays(facts: Sequence[PropertyFacts | QualifierFacts]) -> bool:
    return bool(facts) and all(each.is_array for each in facts)


def _have_several_values(facts: Sequence[PropertyFacts | QualifierFacts]) -> bool:
    return any(each.is_array or each.multivalued for each in facts)


def _ids(facts: Iterable[EdgeFacts | PropertyFacts]) -> list[str]:
    return [each.relation.id for each in facts]


def _facts_of(known: Mapping[str, _T], ids: Iterable[str]) -> list[_T]:
    """The facts about these ids; unknown ids are left out."""
    return [known[one] for one in dict.fromkeys(ids) if one in known]


def _nearest(name: str, preferred: Iterable[_IdAndLabel], known: Iterable[_IdAndLabel]) -> list[str]:
    """The names most similar to a name, one for each thing: its id or its label, whichever is more similar."""
    found: dict[str, str] = {}
    for names in map(list, (preferred, known)):
        id_by_name: dict[str, str] = {}
        for id_, label in names:
            id_by_name.setdefault(id_, id_)
            id_by_name.setdefault(label, id_)
        for word in nearest_names(name, list(id_by_name), 2 * _OFFERED):
            found.setdefault(id_by_name[word], word)
    return list(found.values())[:_OFFERED]
