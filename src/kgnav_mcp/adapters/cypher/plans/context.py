"""The context in which one plan is written: names of the catalogue, parameters, variables, and how nodes are returned.

A node is sorted by its printed id, an edge by its ends and its own properties, and a path by its nodes and edges, as
`kgnav_mcp.plan.Project` defines. Each is returned as a list that `CellReader` decodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, takewhile

from kgnav_mcp.adapters.cypher.catalogue import Catalogue
from kgnav_mcp.adapters.cypher.dialect import split_key
from kgnav_mcp.adapters.cypher.entities import Entities, Lookup
from kgnav_mcp.adapters.cypher.plans import queries
from kgnav_mcp.adapters.cypher.plans.kinds import (
    DATE,
    PLAIN,
    SEVERAL,
    SORTED,
    TEXT,
    Kind,
    Listed,
    OfEdge,
    OfNode,
    OfPath,
    PropertyKey,
    PropertyTypes,
    Single,
    Typed,
    common_kind,
    is_by_code_points,
    member_type,
    unsupported,
)
from kgnav_mcp.adapters.cypher.session import Builder, quoted
from kgnav_mcp.adapters.ids.prefixes import encodable
from kgnav_mcp.plan import Scalar

_INTEGER_BOUND = 2**63


@dataclass(slots=True)
class QueryContext:
    """The state shared by everything that writes one query."""

    entities: Entities
    property_types: PropertyTypes
    parameters: dict[str, object] = field(default_factory=dict[str, object])
    node_ids: Mapping[str, str] = field(default_factory=dict[str, str])
    """The store's own ids of the nodes at the start of the plan, by the ids that answers print."""
    missing: set[PropertyKey] = field(default_factory=set[PropertyKey])
    """Properties whose types are needed but not known yet. They are read, and the query is written again."""
    _numbers: Iterator[int] = field(default_factory=count)

    @property
    def catalogue(self) -> Catalogue:
        return self.entities.catalogue.current

    @property
    def builder(self) -> Builder:
        return self.entities.session.builder

    def fill(self, template: str, **parts: str) -> str:
        """The template with its placeholders filled."""
        return self.builder.fill(template.strip("\n"), **parts)

    def new_variable(self) -> str:
        """A new variable, unique in the query."""
        return f"v{next(self._numbers)}"

    def parameter(self, value: object) -> str:
        """Add a parameter with this value. Returns its name."""
        name = f"p{len(self.parameters)}"
        self.parameters[name] = value
        return name

    def constant(self, value: Scalar) -> Typed:
        """A constant of the plan, as a parameter.

        Raises:
            Unsupported: the store cannot store such a value.
        """
        if value is None:
            return Typed("null", Single())
        return Typed(f"${self.parameter(value)}", _kind(value), value)

    def constants(self, values: Sequence[Scalar]) -> Typed:
        """A list of constants of the plan, as one parameter.

        Raises:
            Unsupported: the store cannot store such a value.
        """
        kinds = [_kind(value) for value in values]
        return Typed(f"${self.parameter([*values])}", Listed(common_kind(kinds)))

    def labels(self, names: Iterable[str], known: Iterable[str]) -> str:
        """Alternative labels or types, joined by `|`.

        Raises:
            Unsupported: a name is not in the catalogue, such as one that is new.
        """
        found = list(names)
        if unknown := set(found).difference(known):
            raise unsupported(f"a name that is not in the catalogue: {min(unknown)}")
        return "|".join(map(quoted, found))

    def keys(self, ids: Sequence[str], *, of_node: bool) -> list[str]:
        """The keys of a property, in all languages.

        Raises:
            Unsupported: a relation has the same name.
        """
        if of_node and any(name in self.catalogue.types for name in ids):
            raise unsupported("a property with the same name as a relation")
        return [key for key in self.catalogue.keys if split_key(key)[0] in ids]

    def types(self, owner: OfNode | OfEdge, key: str) -> frozenset[str]:
        """The types of the values under a key; empty until they have been read (see `missing`).

        An empty key stands for all keys.
        """
        if isinstance(owner, OfNode):
            property_keys = [PropertyKey(False, owner.label or "", key)]
        else:
            property_keys = [PropertyKey(True, name, key) for name in owner.types or ("",)]
        found = {one: self.property_types.known(one) for one in property_keys}
        self.missing.update(one for one, types in found.items() if types is None)
        return frozenset[str]().union(*(types for types in found.values() if types is not None))

    def printed_id(self, variable: str) -> Typed:
        """The expression for the id of a node as answers print it."""
        text = self._id(variable, queries.PRINTED_ID, queries.KEY_CASE)
        return Typed(text, Single(TEXT, by_code_points=not self._id_keys))

    def _id(self, variable: str, template: str, case: str) -> str:
        cases = [
            self.fill(
                case,
                key=self._has_key(variable, label, key),
                value=f"{variable}.{quoted(key)}",
                start=self.constant(f"{label}:{key}=").text,
            )
            for label, key in self._id_keys
        ]
        own = self.builder.node_id(variable)
        return self.fill(template, cases=" ".join(cases), id=own) if cases else own

    def identified(self, variable: str, lookup: Lookup) -> str:
        """The condition that a variable is a node whose printed id is among those that are looked up.

        A node's id contains the first of its labels that has a key, so the node has no value of an earlier key. This
        test is short, because Neo4j takes 0.1 to 0.5 s to plan a query that compares `printed_id` where a graph has 15
        labels.
        """
        own = (lookup.label, lookup.key)
        earlier = list(takewhile(lambda id_key: id_key != own, self._id_keys))
        same_key = [label for label, key in earlier if key == lookup.key]
        conditions = [lookup.condition(self.builder, variable, self.parameter(lookup.values))]
        if same_key:
            labels = "|".join(map(quoted, same_key))
            conditions.append(self.fill(queries.NO_LABEL, variable=variable, labels=labels))
        conditions += [
            self.fill(queries.NO_KEY, key=self._has_key(variable, label, key))
            for label, key in earlier
            if key != lookup.key
        ]
        return f"({' AND '.join(conditions)})"

    @property
    def _id_keys(self) -> list[tuple[str, str]]:
        return [(label, key) for label, key in self.catalogue.id_keys if label in self.catalogue.labels]

    def _has_key(self, variable: str, label: str, key: str) -> str:
        """The condition that a node has a label, and a value of its key that identifies it."""
        value = f"{variable}.{quoted(key)}"
        return self.fill(queries.HAS_KEY, variable=variable, label=quoted(label), value=value)

    def sort_key(self, value: Typed) -> str:
        """The expression that sorts values in the order that plans define.

        Raises:
            Unsupported: Cypher sorts such values in another order.
        """
        text, kind = value.text, value.kind
        match kind:
            case Single(types):
                if not types <= SORTED:
                    raise unsupported("sorting by times, points or durations")
                if is_by_code_points(kind):
                    return text
                return self._texts_key(text) if SEVERAL in types else self.text_key(text)
            case OfNode():
                return self._id(text, queries.ID_KEY, queries.ID_KEY_CASE)
            case OfEdge():
                return self._edge_key(text, kind)
            case OfPath(types):
                step = self._edge_key(queries.STEP, OfEdge(types))
                first, node = map(self._node_of, (queries.FIRST_NODE, queries.NEXT_NODE))
                return self.fill(queries.PATH_KEY, variable=text, first=first, node=node, edge=step)
            case Listed(of):
                return self.each(text, of, self.sort_key)

    def text_key(self, text: str) -> str:
        """The expression that sorts and compares texts by code points, however Neo4j holds them."""
        return self.fill(queries.TEXT_KEY, value=text)

    def _texts_key(self, text: str) -> str:
        of_member, of_one = map(self.text_key, ("member", "one"))
        return self.fill(queries.KEY_OF_SEVERAL, value=text, of_member=of_member, of_one=of_one)

    def kind_of_names(self, names: Iterable[str]) -> Single:
        """The kind of some labels or types: few graphs have any that Neo4j sorts otherwise than plans do."""
        return Single(TEXT, by_code_points=all(map(is_below_surrogates, names)))

    def _node_of(self, text: str) -> str:
        return self.each(f"[{text}]", OfNode(), self.sort_key) + "[0]"

    def _edge_key(self, text: str, kind: OfEdge) -> str:
        """The sort key of an edge: its ends, its type, and its own properties sorted by key."""
        types = self.types(kind, "")
        members = {member_type(name) for name in types}
        if not members <= PLAIN | {DATE}:
            raise unsupported("sorting by edges whose properties are times, points or names in languages")
        catalogue = self.catalogue
        head, tail = (self._node_of(f"{end}({text})") for end in ("startNode", "endNode"))
        relation = Typed(self.fill("{relationship_type({value})}", value=text), self.kind_of_names(catalogue.types))
        keys = self.parameter([[place, key] for place, key in enumerate(sorted(catalogue.keys))])
        names = {"variable": text, "keys": f"${keys}"}
        if types <= PLAIN:
            own = self.fill(queries.OWN_VALUE, **names)
        else:
            own = self.builder.collected(queries.OWN_VALUES, text_key=self.text_key("value"), **names)
        return self.fill(queries.EDGE_KEY, head=head, relation=self.sort_key(relation), tail=tail, own=own)

    def each(self, text: str, of: Kind, work: Callable[[Typed], str]) -> str:
        """The expression for a list with `work` applied to each member."""
        member = self.new_variable()
        value = work(Typed(member, of))
        return text if value == member else self.fill(queries.EACH, list=text, member=member, value=value)

    def cell(self, value: Typed) -> str:
        """The expression that returns a value in the form that `cells` decodes."""
        text = value.text
        match value.kind:
            case Single():
                return text
            case OfNode():
                return self._node_cell(text)
            case OfEdge():
                return self._edge_cell(text)
            case OfPath():
                node, edge = self._node_cell("n"), self._edge_cell("r")
                return self.fill(queries.PATH_CELL, variable=text, node=node, edge=edge)
            case Listed(of):
                return self.each(text, of, self.cell)

    def _node_cell(self, text: str) -> str:
        return self.fill(queries.NODE_CELL, variable=text)

    def _edge_cell(self, text: str) -> str:
        head, tail = (self._node_cell(f"{end}({text})") for end in ("startNode", "endNode"))
        return self.fill(queries.EDGE_CELL, variable=text, head=head, tail=tail)


def is_below_surrogates(text: str) -> bool:
    """Whether code points and units of UTF-16 compare a text alike with any other."""
    return max(text, default="") < "\ud800"


def _kind(value: Scalar) -> Single:
    """The kind of a constant.

    Raises:
        Unsupported: the store cannot hold such a value.
    """
    match value:
        case None:
            return Single()
        case bool():
            name = "BOOLEAN"
        case int() if -_INTEGER_BOUND <= value < _INTEGER_BOUND:
            name = "INTEGER"
        case float():
            name = "FLOAT"
        case str() if encodable(value) == value:
            return Single(TEXT, is_below_surrogates(value))
        case _:
            raise unsupported("a value that the store cannot store")
    return Single(frozenset((name,)))
