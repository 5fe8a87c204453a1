"""What a reader of the toy graph must see, computed by brute force from its definition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import quote

from kgnav_mcp.model import Direction, Entity, Literal, Triple
from kgnav_mcp.values.scalars import scalar
from tests.contract import toy, toy_files, toy_numbers

Tail = str | tuple[str, str | None, str | None]
"""An id, or (text, datatype, language)."""
Row = tuple[str, str, Tail, tuple[tuple[str, Tail], ...]]
"""Head, relation, tail, and qualifiers sorted by relation."""


@dataclass(frozen=True)
class Style:
    """How one kind of store writes ids, datatypes and the relations of names and labels."""

    node: str
    relation: str
    label: str
    escaped: bool
    datatypes: Mapping[toy.Kind, str | None]
    name: str
    alias: str
    description: str
    type: str | None = None
    qualifiers: bool = True
    """Whether edges have properties. If not, parallel edges are one triple."""
    terms: bool = True
    """Whether names, aliases and descriptions are triples. If not, they only appear in descriptions of entities."""
    namespace: str = ""
    """The namespace of the IRIs of nodes; empty if nodes have no IRIs."""

    def node_id(self, local: str) -> str:
        return self.node + (quote(local, safe="") if self.escaped else local)

    def types(self, node: toy.Node) -> tuple[str, ...]:
        """The labels of a node; fewer than its own if the store's nodes have exactly one each."""
        return node.types

    def relation_id(self, local: str) -> str:
        return self.relation + (quote(local, safe="") if self.escaped else local)

    def label_id(self, local: str) -> str:
        return self.label + local

    def bare(self, local: str) -> str:
        """A node's id without its prefix."""
        return self.node_id(local).rpartition(":")[2]

    def iri(self, local: str) -> str:
        """A node's full IRI; its id if nodes have no IRIs."""
        return self.namespace + self.bare(local) if self.namespace else self.node_id(local)

    def value(self, value: toy.Value) -> Tail:
        return value.text, self.datatypes[value.kind], value.language


PROPERTY_GRAPH = Style(
    node="",
    relation="",
    label="",
    escaped=False,
    datatypes={
        "string": None,
        "integer": "integer",
        "decimal": "float",
        "boolean": "boolean",
        "date": "date",
        "dateTime": "datetime",
    },
    name="name",
    alias="aka",
    description="description",
)
RDF = Style(
    node="node:",
    relation="rel:",
    label="class:",
    escaped=True,
    datatypes={
        "string": None,
        "integer": "xsd:integer",
        "decimal": "xsd:decimal",
        "boolean": "xsd:boolean",
        "date": "xsd:date",
        "dateTime": "xsd:dateTime",
    },
    name="rdfs:label",
    alias="skos:altLabel",
    description="rdfs:comment",
    type="rdf:type",
    namespace=toy_files.NAMESPACES["node"],
)


class WikidataStyle(Style):
    """Numeric ids: items for nodes and classes, properties for relations."""

    def node_id(self, local: str) -> str:
        return f"wd:{toy_numbers.node(local)}"

    def relation_id(self, local: str) -> str:
        return f"wdt:{toy_numbers.relation(local)}"

    def label_id(self, local: str) -> str:
        return f"wd:{toy_numbers.label(local)}"


WIKIDATA = WikidataStyle(
    node="wd:",
    relation="wdt:",
    label="wd:",
    escaped=False,
    datatypes={
        "string": None,
        "integer": "quantity",
        "decimal": "quantity",
        "boolean": None,
        "date": "time",
        "dateTime": "time",
    },
    name="rdfs:label",
    alias="skos:altLabel",
    description="schema:description",
    type=f"wdt:{toy_numbers.INSTANCE_OF}",
    terms=False,
    namespace="http://www.wikidata.org/entity/",
)
TRUTHY = replace(WIKIDATA, qualifiers=False)
FREEBASE = Style(
    node="m.",
    relation="toy.thing.",
    label="toy.",
    escaped=True,
    datatypes=RDF.datatypes,
    name="type.object.name",
    alias="common.topic.alias",
    description="common.topic.description",
    type="type.object.type",
    qualifiers=False,
    namespace=toy_files.FREEBASE,
)


@dataclass
class View:
    """The toy graph as one kind of store shows it."""

    style: Style
    rows: list[Row] = field(default_factory=list[Row])
    mediators: set[str] = field(default_factory=set[str])
    types: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    properties: dict[str, str] = field(default_factory=dict[str, str])
    """Nodes that represent relations, with their names, if the store has such nodes."""

    _by_end: dict[Direction, dict[Tail, list[Row]]] = field(default_factory=dict[Direction, dict[Tail, list[Row]]])
    """The rows by the end that they are walked from. Tests ask for them thousands of times."""
    _indexed: int = 0
    """So many rows are in it."""

    def node(self, local: str) -> str:
        return self.style.node_id(local)

    def relation(self, local: str) -> str:
        return self.style.relation_id(local)

    def around(self, ids: Iterable[str], direction: Direction) -> list[Row]:
        """The rows of these nodes, node by node."""
        if self._indexed != len(self.rows):
            self._index()
        own = self._by_end[direction]
        return [row for node in ids for row in own.get(node, ())]

    def _index(self) -> None:
        self._by_end = {direction: {} for direction in Direction}
        for row in self.rows:
            self._by_end[Direction.OUTGOING].setdefault(row[0], []).append(row)
            self._by_end[Direction.INCOMING].setdefault(row[2], []).append(row)
        self._indexed = len(self.rows)

    def counts(self, ids: Iterable[str], direction: Direction) -> Counter[str]:
        return Counter(row[1] for row in self.around(ids, direction))

    def through(self, ids: Iterable[str], direction: Direction) -> list[tuple[Row, Row]]:
        """Pairs of rows that meet in a mediator, except those that lead back to their start."""
        outgoing = direction is Direction.OUTGOING
        pairs: list[tuple[Row, Row]] = []
        for node in ids:
            for near in self.around([node], direction):
                middle = near[2] if outgoing else near[0]
                if not isinstance(middle, str) or middle not in self.mediators:
                    continue
                far_rows = [far for far in self.around([middle], direction) if (far[2] if outgoing else far[0]) != node]
                pairs += [(near, far) if outgoing else (far, near) for far in far_rows]
        return pairs

    def counts_through(self, ids: Iterable[str], direction: Direction) -> Counter[str]:
        return Counter(f"{first[1]}.{second[1]}" for first, second in self.through(ids, direction))

    def values(self, relation: str, label: str | None = None) -> set[str]:
        """The texts of a property's values, over the nodes with a label."""
        return {
            row[2][0]
            for row in self.rows
            if row[1] == relation and not isinstance(row[2], str) and (label is None or label in self.types[row[0]])
        }

    def relation_counts(self) -> Counter[tuple[str, bool]]:
        """Number of rows by (relation, whether the tail is a literal)."""
        return Counter((row[1], not isinstance(row[2], str)) for row in self.rows)

    def degree(self, node: str) -> int:
        return sum(len(self.around([node], direction)) for direction in Direction)


def view(style: Style, nodes: Sequence[toy.Node] = toy.NODES, edges: Sequence[toy.Edge] = toy.EDGES) -> View:
    """The view of a store with this style."""
    built = View(style)
    for node in nodes:
        key = style.node_id(node.id)
        built.types[key] = set(style.types(node))
        if node.mediator:
            built.mediators.add(key)
        built.rows += [(key, relation, tail, ()) for relation, tail in _properties(style, node)]
    if style.type is not None:
        for label in toy.labels_of(nodes):
            built.types[style.label_id(label)] = set()
            if style.terms:
                built.rows.append((style.label_id(label), style.name, (label, None, None), ()))
    if isinstance(style, WikidataStyle):
        numbers = {toy_numbers.relation(name): name.replace("_", " ") for name in toy_numbers.RELATIONS}
        numbers[toy_numbers.INSTANCE_OF] = "instance of"
        built.properties = {f"{style.node}{number}": name for number, name in numbers.items()}
        built.types |= {each: set() for each in built.properties}
    for edge in edges:
        qualifiers = sorted((style.relation_id(name), style.value(value)) for name, value in edge.qualifiers)
        ends = style.node_id(edge.head), style.node_id(edge.tail)
        built.rows.append((ends[0], style.relation_id(edge.relation), ends[1], tuple(qualifiers)))
    if not style.qualifiers:
        built.rows = list(dict.fromkeys((head, relation, tail, ()) for head, relation, tail, _ in built.rows))
    return built


def _properties(style: Style, node: toy.Node) -> list[tuple[str, Tail]]:
    """Relation and tail of everything in a node's definition except its edges."""
    found: list[tuple[str, Tail]] = []
    if style.terms:
        found += [(style.name, style.value(value)) for value in node.names]
        found += [(style.alias, (alias, None, None)) for alias in node.aliases]
    if style.terms and node.description:
        found.append((style.description, (node.description, None, None)))
    found += [(style.relation_id(name), style.value(value)) for name, value in node.properties]
    if style.type is not None:
        found += [(style.type, style.label_id(label)) for label in style.types(node)]
    return found


def as_row(triple: Triple) -> Row:
    """A triple from an adapter in the view's form."""
    qualifiers = sorted((qualifier.relation.id, as_tail(qualifier.value)) for qualifier in triple.qualifiers)
    return triple.head.id, triple.relation.id, as_tail(triple.tail), tuple(qualifiers)


def as_tail(node: Entity | Literal) -> Tail:
    if isinstance(node, Entity):
        return node.id
    is_large = node.datatype == "xsd:decimal" and isinstance(scalar(node), int)  # as Virtuoso returns large integers
    return node.text, "xsd:integer" if is_large else node.datatype, node.language


def as_rows(triples: Sequence[Triple]) -> list[Row]:
    return [as_row(triple) for triple in triples]


def tally(rows: Iterable[Row]) -> Counter[Row]:
    """How often each row occurs, to compare lists in any order."""
    return Counter(rows)
