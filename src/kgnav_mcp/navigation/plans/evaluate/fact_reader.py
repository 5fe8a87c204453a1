"""Reads facts of a graph for an evaluation: by sets, each fact once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, product

from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.errors import UnknownName
from kgnav_mcp.languages.cypher import write_part
from kgnav_mcp.model import Cell, Certainty, Direction, Entity, Link, Path, PlanPage, Relation, Stop, Triple
from kgnav_mcp.model import Node as Term
from kgnav_mcp.navigation.flattening import FlattenedPage, read_flattened
from kgnav_mcp.navigation.plans.budget import Budget, Part
from kgnav_mcp.navigation.plans.check.schema_names import SchemaNames
from kgnav_mcp.navigation.plans.evaluate.interning import Interned, Step, pairs
from kgnav_mcp.navigation.plans.evaluate.paging import characters_of, read_all, read_all_values
from kgnav_mcp.navigation.plans.evaluate.scans import Scans
from kgnav_mcp.navigation.plans.evaluate.several_values import SeveralValues
from kgnav_mcp.navigation.plans.evaluate.values import Edge, Node, Value, joined_values, property_values
from kgnav_mcp.navigation.plans.lookups import Lookups
from kgnav_mcp.navigation.relation_lists import likely_path
from kgnav_mcp.plan import (
    Aggregate,
    AggregateFunction,
    Column,
    EdgePattern,
    Match,
    NodePattern,
    Pipeline,
    Plan,
    Project,
    Variable,
)
from kgnav_mcp.port import Capability, FarEndFilter, FarEndKind, GraphAdapter
from kgnav_mcp.port.lists import batches

_IDS = 10_000
"""Ids in one call."""


class Classes:
    """A cache of the names of labels: a class of an RDF graph has an id, but its nodes show the class's name."""

    def __init__(self, graph: GraphAdapter) -> None:
        self._graph = graph
        self._names: dict[str, frozenset[str]] = {}

    async def read_names(self, labels: Iterable[str]) -> None:
        """Read the names of labels."""
        unread = [label for label in dict.fromkeys(labels) if label not in self._names]
        if not unread:
            return
        schema_names = await SchemaNames.of(self._graph)
        shown = ((label, schema_names.label_name(label)) for label in unread)
        self._names.update((label, frozenset((label, name))) for label, name in shown if name is not None)
        unknown = [label for label in unread if label not in self._names]
        for batch in batches(unknown, _IDS):
            entities = await self._graph.describe(batch)
            for label in batch:
                name = entities[label].label if label in entities else None
                self._names[label] = frozenset((label, name) if name else [label, *await self._derived_names(label)])

    async def _derived_names(self, label: str) -> list[str]:
        """The name that nodes show for a class without a label: the adapter derives it from the id."""
        with suppress(UnknownName):
            return [facts.shown for facts in (await self._graph.schema(label, limit=1)).labels if facts.id == label]
        return []

    def any_of(self, labels: Iterable[str], types: Iterable[str]) -> bool:
        """Whether one of these labels, whose names were read, is among the types that a node shows."""
        return any(not self._names[label].isdisjoint(types) for label in labels)


_ROWS = 10_000
"""Rows of one page."""
_FIRST_NODES = 200
"""Nodes that are first asked for the hops of a relation: most relations occur at the first nodes."""
_FLATTENED_ROWS = 1_000
"""Rows of a page through mediators, whose roles are read, too."""


class Reader:
    """Reads a graph for one evaluation, and caches what it has read."""

    def __init__(
        self, graph: GraphAdapter, budget: Budget, lookups: Lookups | None = None, *, edge_ids: bool = False
    ) -> None:
        """`edge_ids`: nothing is asked of an edge but its relation and its ends."""
        self._graph, self._edge_ids = graph, edge_ids
        self._lookups = lookups or Lookups(graph)
        self._neighbours = graph.neighbour_ids if edge_ids else graph.neighbours
        self._edges = graph.edge_ids if edge_ids else graph.edges
        self.budget = budget
        self.classes = Classes(graph)
        self._interned = Interned(edge_ids=edge_ids)
        self._entities: dict[Node, Entity] = {}
        self._values: dict[str, dict[Node, tuple[Value, ...]]] = {}
        self._properties: dict[Node, tuple[Value, ...]] = {}
        self._hops: dict[str, tuple[str, ...]] = {}
        self._subclasses: dict[tuple[str, ...], tuple[str, ...]] = {}
        self.several = SeveralValues()
        self.scans = Scans(graph, budget, self._lookups, self._interned)

    async def nodes_by_id(self, ids: Iterable[str]) -> list[Node]:
        """The nodes with these ids, which may be written as users do."""
        found: dict[Node, None] = {}
        for batch in batches(list(dict.fromkeys(ids)), _IDS):
            for entity in (await self._lookups.by_id(batch)).values():
                node = self._interned.node(entity)
                self._entities[node] = entity
                found[node] = None
        return list(found)

    def node(self, name: str) -> Node:
        """The node of an id that the graph returned; nothing else is known of it yet."""
        return self._interned.node(Entity(name))

    def answers(self) -> Callable[[Cell], Value]:
        """A function that returns the values of the cells of one answer of the store: nodes, edges, numbers, lists."""
        return partial(self._value, self._interned.edge_of_answer())

    def _value(self, edge: Callable[[Triple], Edge], cell: Cell) -> Value:
        """The value of a cell; `edge` returns the edges of its answer."""
        match cell:
            case Entity():
                node = self._interned.node(cell)
                if cell.label is not None or cell.types:  # otherwise nothing is known of it yet but its id
                    self._entities.setdefault(node, cell)
                return node
            case Triple():
                return edge(cell)
            case tuple():
                return tuple(self._value(edge, one) for one in cell)
            case Path():
                raise TypeError("paths are made of their nodes and edges")
            case _:
                return cell

    async def describe(self, nodes: Iterable[Node]) -> None:
        """Read the entities of nodes: labels and types."""
        for batch in batches([node for node in dict.fromkeys(nodes) if node not in self._entities], _IDS):
            entities = await self._graph.describe([node.id for node in batch])
            for node in batch:
                self._entities[node] = entities.get(node.id, Entity(node.id, node.label))
                node.label = self._entities[node].label

    def entity(self, node: Node) -> Entity:
        """The entity of a node that was described; otherwise one with its id and label only."""
        return self._entities.get(node) or Entity(node.id, node.label)

    async def with_subclasses(self, labels: Sequence[str], part: Part) -> tuple[str, ...]:
        """The labels and all their subclasses, if the graph has a class hierarchy."""
        known = self._subclasses.get(tuple(labels))
        if known is not None:
            return known
        relations = sorted(self._graph.subclass_relations)
        found = dict.fromkeys(labels)
        frontier = await self.nodes_by_id(labels) if relations else []
        while frontier:
            steps = await self.read_edges(frontier, Direction.INCOMING, relations, part)
            frontier = [node for node in dict.fromkeys(subclass for _, _, subclass in steps) if node.id not in found]
            found |= dict.fromkeys(node.id for node in frontier)
            self.budget.check(len(found), part)
        return self._subclasses.setdefault(tuple(labels), tuple(found))

    def has_label(self, node: Node, labels: Iterable[str]) -> bool:
        """Whether a node that was described has one of these labels."""
        return self.classes.any_of(labels, self.entity(node).types)

    async def read_edges(
        self, nodes: Sequence[Node], direction: Direction | None, relations: Sequence[str], part: Part
    ) -> list[Step]:
        """The edges of nodes in a direction (None: both), each as it is followed from one of the nodes.

        Raises:
            PlanTooLarge: there are more than may be held.
        """
        steps: list[Step] = []
        for batch in batches(nodes, _IDS):
            ids = [node.id for node in batch]
            relation_paths = await self._relation_paths(ids, direction, relations)
            for links in await self._links(ids, direction, relation_paths, part, len(steps)):
                steps += await in_thread(len(links), lambda links=links: self._interned.steps(links))
        return steps

    async def read_few_edges(
        self, nodes: Sequence[Node], direction: Direction | None, relations: Sequence[str], part: Part, most: int
    ) -> list[Step] | None:
        """As `read_edges`, by one question; None if there are more edges than `most`, or they lead through mediators.

        Raises:
            PlanOverBudget: the plan has read too many.
        """
        ids = [node.id for node in nodes]
        paths = await self._relation_paths(ids, direction, relations)
        if any(len(path) > 1 for path in paths or ()):
            return None
        page = await self._neighbours(ids, direction, relation_paths=paths, far_end_kind=FarEndKind.ENTITY, limit=most)
        if page.stop is not Stop.COMPLETE:
            return None
        self.budget.read(len(page.items), 0, write_part(part))
        return await in_thread(len(page.items), lambda: self._interned.steps(page.items))

    async def read_edges_between(
        self, heads: Sequence[Node], tails: Sequence[Node], relations: Sequence[str], part: Part
    ) -> list[Step]:
        """The edges from heads to tails, by relations of one hop.

        Raises:
            PlanTooLarge: there are more than may be held.
        """
        steps: list[Step] = []
        wanted = list(relations) or None
        for heads_part, tails_part in product(batches(heads, _IDS), batches(tails, _IDS)):
            ends = [node.id for node in heads_part], [node.id for node in tails_part]
            read = partial(self._edges, *ends, relations=wanted, limit=_ROWS)
            triples = await read_all(lambda after, read=read: read(after=after), self.budget, part, len(steps))
            steps += await in_thread(len(triples), lambda triples=triples: self._interned.numbered(triples))
        return steps

    async def number_of_edges(self, relations: Sequence[str]) -> int | None:
        """How many edges some relations of one hop have; None if the schema does not state it."""
        if not relations or await self.two_hops(relations):
            return None
        schema_names = await SchemaNames.of(self._graph)
        counts = [facts.count for name in relations if (facts := schema_names.relation(name))]
        is_known = len(counts) == len(relations) and all(one.certainty is Certainty.EXACT for one in counts)
        return sum(one.value for one in counts) if is_known else None

    async def read_relations(self, relations: Sequence[str], part: Part) -> list[Step] | None:
        """All edges of relations of one hop, from head to tail; None if they are too many, or need more than ids.

        Raises:
            Unsupported: the store cannot list them.
            StoreTimeout: it did not list them in time.
            PlanOverBudget: the plan has read too many.
        """
        if not self._edge_ids or Capability.PLANS not in self._graph.capabilities:
            return None
        triples: list[Triple] = []
        for relation in relations:
            page = await self._graph.run(_plan_of_edges(relation), limit=self.budget.bound + 1)
            if page.stop is not Stop.COMPLETE:
                return None
            triples += await in_thread(
                len(page.items), lambda page=page, relation=relation: _triples_of(page, relation)
            )
            self.budget.read(len(page.items), 0, write_part(part))
        return await in_thread(len(triples), lambda: self._interned.numbered(triples))

    async def degrees(
        self, nodes: Sequence[Node], direction: Direction | None, relations: Sequence[str]
    ) -> tuple[Counter[str], bool]:
        """Numbers of edges of nodes in a direction by node id, counted by the store; and whether they are exact."""
        found: Counter[str] = Counter()
        exact = True
        hops = 2 if await self.two_hops(relations) else 1
        for batch in batches(nodes, _IDS):
            page = await self._graph.relations(
                [node.id for node in batch], direction, hops=hops, far_end_kind=FarEndKind.ENTITY, limit=_ROWS
            )
            exact &= page.stop is Stop.COMPLETE
            for fact in page.items:
                if not relations or fact.relation.id in relations:
                    found.update(fact.per_entity)
                    exact &= fact.count.certainty is Certainty.EXACT
        return found, exact

    async def two_hops(self, relations: Sequence[str]) -> bool:
        """Whether one of the relations may lead through mediators."""
        dotted = [name for name in relations if "." in name]
        if not dotted or Capability.MEDIATORS not in self._graph.capabilities:
            return False
        schema_names = await SchemaNames.of(self._graph)
        return any(schema_names.relation(name) is None for name in dotted)

    async def read_values(self, nodes: Iterable[Node], relation: str) -> None:
        """Read the values of a property of nodes. A value that is a node is described: it is compared by its label."""
        known = self._values.setdefault(relation, {})
        for batch in batches([node for node in dict.fromkeys(nodes) if node not in known], _IDS):
            links = await self._facts([node.id for node in batch], [(relation,)], None)
            found = await in_thread(len(links), lambda links=links: self._interned.grouped(links))
            await self.describe(value for values in found.values() for value in values if isinstance(value, Node))
            known.update((node, found.get(node, ())) for node in batch)

    async def keep_values(self, found: Mapping[tuple[str, str], Sequence[Term]]) -> None:
        """Keep values of properties that came with an answer of the store, by node id and relation."""

        def work() -> dict[str, dict[Node, tuple[Value, ...]]]:
            values: dict[str, dict[Node, tuple[Value, ...]]] = {}
            for (name, relation), own in found.items():
                self.budget.read(len(own), characters_of(own), f"the values of {relation}")
                values.setdefault(relation, {})[self.node(name)] = property_values(map(self._interned.value, own))
            return values

        for relation, values in (await in_thread(len(found), work)).items():
            await self.describe(one for own in values.values() for one in own if isinstance(one, Node))
            self._values.setdefault(relation, {}).update(values)

    def values(self, node: Node, relations: Sequence[str]) -> tuple[Value, ...]:
        """The values of a node's property, which must have been read: a `PropertyList` if it is declared as one."""
        if len(relations) == 1:
            return self._values[relations[0]].get(node, ())
        return joined_values([self._values[name].get(node, ()) for name in relations])

    async def read_all_values(self, nodes: Iterable[Node]) -> None:
        """Read all properties of nodes."""
        for batch in batches([node for node in dict.fromkeys(nodes) if node not in self._properties], _IDS):
            links = await self._facts([node.id for node in batch], None, FarEndKind.LITERAL)
            own = await in_thread(len(links), lambda links=links: self._interned.properties(links))
            self._properties.update((node, own.get(node, ())) for node in batch)

    def properties(self, node: Node) -> tuple[Value, ...]:
        """All properties of a node, which must have been read."""
        return self._properties[node]

    def qualifiers(self, edge: Edge, relations: Sequence[str]) -> tuple[Value, ...]:
        """The values of an edge's property: a `PropertyList` if it is declared as one."""
        return property_values(
            self._interned.value(one.value) for one in edge.triple.qualifiers if one.relation.id in relations
        )

    def all_qualifiers(self, edge: Edge) -> tuple[Value, ...]:
        """All properties of an edge."""
        own: dict[str, list[tuple[Value, int | None]]] = {}
        for one in edge.triple.qualifiers:
            own.setdefault(one.relation.id, []).append(self._interned.value(one.value))
        return pairs(own)

    async def _relation_paths(
        self, ids: Sequence[str], direction: Direction | None, relations: Sequence[str]
    ) -> list[tuple[str, ...]] | None:
        """The hops of each relation: two if it leads through mediators. None stands for any relation."""
        if not relations:
            return None
        unread = [name for name in relations if name not in self._hops]
        if unread and not await self.two_hops(unread):
            self._hops |= {name: (name,) for name in unread}
        else:
            for batch in (ids[:_FIRST_NODES], ids[_FIRST_NODES:]):
                unread = [name for name in relations if name not in self._hops]
                facts = await self._graph.relations(batch, direction, hops=2, limit=_ROWS) if unread and batch else None
                for fact in facts.items if facts else ():
                    if fact.relation.id in unread:
                        self._hops[fact.relation.id] = tuple(hop.id for hop in fact.hops)
                if facts is not None and facts.stop is not Stop.COMPLETE:
                    schema_names = await SchemaNames.of(self._graph)
                    unlisted = [name for name in unread if schema_names.relation(name) is None]
                    self._hops = {name: likely_path(name) for name in unlisted} | self._hops
        return [self._hops.get(name, (name,)) for name in relations]

    async def _links(
        self,
        ids: Sequence[str],
        direction: Direction | None,
        relation_paths: list[tuple[str, ...]] | None,
        part: Part,
        before: int,
    ) -> list[list[Link]]:
        """Rows from nodes to nodes: those of one hop, and those through mediators with all their roles."""
        single = None if relation_paths is None else [path for path in relation_paths if len(path) == 1]
        double = [path for path in relation_paths or () if len(path) > 1]
        found: list[list[Link]] = []
        if single is None or single:
            found.append(
                await read_all(
                    lambda after: self._neighbours(
                        ids, direction, relation_paths=single, far_end_kind=FarEndKind.ENTITY, limit=_ROWS, after=after
                    ),
                    self.budget,
                    part,
                    before,
                )
            )
        if double:

            async def read_double(after: str | None) -> FlattenedPage:
                far = FarEndFilter(FarEndKind.ENTITY)
                page = await read_flattened(
                    self._graph, ids, direction, relation_paths=double, far=far, limit=_FLATTENED_ROWS, after=after
                )
                self.budget.record_incomplete(page.roles)
                return page

            found.append(await read_all(read_double, self.budget, part, before + sum(map(len, found))))
        return found

    async def _facts(
        self, ids: Sequence[str], relation_paths: list[tuple[str, ...]] | None, far_end_kind: FarEndKind | None
    ) -> list[Link]:
        read = partial(
            self._graph.neighbour_ids, ids, Direction.OUTGOING, relation_paths=relation_paths, far_end_kind=far_end_kind
        )
        name = "all properties" if relation_paths is None else ", ".join(chain.from_iterable(relation_paths))
        return await read_all_values(lambda after: read(limit=_ROWS, after=after), self.budget, name)


def _plan_of_edges(relation: str) -> Plan:
    """The plan that lists the edges of a relation: their ends, and how many lead from one to the other."""
    match = Match((NodePattern("a"), NodePattern("b")), (EdgePattern("r", "a", "b", (relation,)),))
    ends = (Column("a", Variable("a")), Column("b", Variable("b")))
    number = Column("n", Aggregate(AggregateFunction.COUNT, None))
    return Plan((Pipeline((match, Project((*ends, number)))),), in_any_order=True)


def _triples_of(page: PlanPage, relation: str) -> list[Triple]:
    """The edges in an answer to the plan of a relation's edges."""
    shared, triples = Relation(relation, relation), list[Triple]()
    for head, tail, number in (row.cells for row in page.items):
        if isinstance(head, Entity) and isinstance(tail, Entity) and isinstance(number, int):
            triples += [Triple(head, shared, tail)] * number
    return triples
