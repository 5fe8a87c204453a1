"""The verbs that a store answers."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from kgnav_mcp.errors import Unsupported
from kgnav_mcp.model import (
    AnchoredPage,
    Candidate,
    Count,
    Direction,
    Entity,
    Health,
    Link,
    Namesake,
    Page,
    PlanPage,
    RelationFacts,
    RowsOrRelations,
    Schema,
    Stop,
    Triple,
    ValueFacts,
    ValueMatch,
)
from kgnav_mcp.port import defaults, far_end_filters
from kgnav_mcp.port.basic_verbs import BasicVerbs
from kgnav_mcp.port.defaults import one_by_one
from kgnav_mcp.port.far_end_filters import MatchRequest
from kgnav_mcp.port.terms import AdapterOptions, Capability, FarEndFilter, FarEndKind, ValueOwner

if TYPE_CHECKING:
    from kgnav_mcp.plan import Plan


class PlanVerbs(ABC):  # noqa: B024 - each verb has a default: the store does not have it
    """The verbs for plans, all optional. An adapter that overrides `run` declares Capability.PLANS."""

    async def run(self, plan: Plan, *, limit: int, after: str | None = None) -> PlanPage:
        """One page of a plan's rows, with the graph's own ids. The plan is compiled to one query if possible.

        A store runs what it can express: whole plans, or only parts of them. Where it refuses a plan, it is asked for
        the clauses up to a projection, or for one pattern around nodes that are given, with as many conditions as it
        takes; the rest is evaluated over their rows. `pattern_queries.pattern_query` reads a plan for a store that
        only matches single patterns.

        The order is that of the algebra. A position is the number of rows up to it; a dot and more text may follow; a
        page of rows `in_any_order` needs none. Edges and labels are those that `neighbours` and `describe` show. Cells
        of the same edge are the same triple, so that edges that are equal in all their facts can be told apart. Nodes
        may come without label and types. An incomplete answer of the store is an error, never a partial result.

        Raises:
            Unsupported: the store's language or this adapter cannot express a part of the plan. It is raised before
                anything is read, wherever possible: other parts are asked for next.
            StoreTimeout: the store did not answer in time.
        """
        del plan, limit, after
        raise Unsupported("this store runs no plans", next_step="Walk with search or get_triples.")

    async def has_more_rows(self, plan: Plan, than: int) -> bool:
        """Whether a plan `in_any_order`, as for `run`, is known to have more rows than `than`.

        A hint, found without reading them, at the first row too many: where a query cannot be stopped, it is asked
        before a long one is begun. False also if the store cannot tell, as by default.

        Raises:
            Unsupported, StoreTimeout: as `run`.
        """
        del plan, than
        return False


class GraphAdapter(BasicVerbs, PlanVerbs):
    """One open graph: the basic verbs, and all others. Safe for concurrent calls in one event loop.

    A call that is cancelled or times out returns at once. Its query in the store ends as soon as the store allows:
    at the latest after the adapter's `timeout`, which is also set as the query's time limit in the store.
    """

    capabilities: frozenset[Capability]
    """Before `open`: what this kind of store can do. After it: what this graph can do."""

    @property
    def class_relations(self) -> frozenset[str]:
        """Ids of the relations that state the classes of mediators. A mediator's class is not one of its roles."""
        return frozenset()

    @property
    def subclass_relations(self) -> frozenset[str]:
        """Ids of the relations that lead from a class to its superclasses; empty if classes have none."""
        return frozenset()

    @property
    def generated_prefixes(self) -> Mapping[str, str]:
        """Prefixes that the adapter generated, with their namespaces. Answers declare those that they use."""
        return {}

    async def find_by_name(self, name: str, *, limit: int) -> Page[Namesake]:
        """Entities with this name in any language: exact spelling first, then other letter cases.

        Within each group, names in the preferred language come first. If no entity has the name, aliases count. If
        none has the alias either, an id without its prefix (`Q42`) counts. Other letter cases may be left out if some
        entity has the exact spelling, or if the store would have to read every name. By default: the best candidates
        of `find` that have the name.
        """
        return await defaults.find_by_name(self, name, limit=limit)

    async def find_by_names(self, names: Sequence[str], *, limit: int) -> Mapping[str, Page[Namesake]]:
        """The result of `find_by_name` for each name, read by a few queries. By default it is called for each.

        Raises:
            InvalidArgument: there are more names than the store looks up in one call.
        """
        return await one_by_one(names, lambda name: self.find_by_name(name, limit=limit))

    async def find_by_values(self, values: Sequence[str], *, limit: int) -> Mapping[str, Sequence[ValueMatch]]:
        """Entities that have a property with exactly one of these texts as its value, such as a code or a foreign key.

        At most `limit` matches for each text, in any order; texts without a match may be absent. Only texts without a
        language are compared, no numbers or dates. A store without an index of values may omit
        matches that it could find only by reading millions of nodes. By default all rows are read.

        Raises:
            Unsupported: by default, if there are more than 200,000 nodes and rows.
        """
        return await defaults.find_by_values(self, values, limit=limit)

    async def find_by_meaning(self, hint: str, *, label: str | None = None, limit: int) -> Page[Candidate]:
        """Entities whose name and description mean what a hint means, most similar first, each with its similarity.

        Only those with at least the similarity of AdapterOptions.meaning. By default there are none: a store without
        vectors of its entities searches by words only.

        Raises:
            UnknownName: the graph has no such label.
        """
        del hint, label, limit
        return Page((), (), Count(0))

    @property
    def indexing_progress(self) -> str:
        """The progress of building the index of `find_by_meaning`, in words; empty if none is being built."""
        return ""

    async def relations(
        self,
        ids: Sequence[str],
        direction: Direction | None,
        *,
        hops: int = 1,
        far_end_kind: FarEndKind | None = None,
        examples: int = 0,
        limit: int,
    ) -> AnchoredPage[RelationFacts]:
        """Distinct relations of the entities, with counts for each entity; ordered by direction and relation id.

        `direction` None means both, outgoing first. With `hops` 2, two-hop relations through mediators are included.
        Each relation comes with up to `examples` far ends. `far_end_kind` restricts the counted rows to those that end
        at entities, or at literals. At a hub the cost should depend on the number of relations, not on the degree. By
        default all rows are read and counted.
        """
        return await defaults.relations(
            self, ids, direction, hops=hops, far_end_kind=far_end_kind, examples=examples, limit=limit
        )

    async def neighbour_ids(
        self,
        ids: Sequence[str],
        direction: Direction | None,
        *,
        relation_paths: Sequence[tuple[str, ...]] | None = None,
        far_end_kind: FarEndKind | None = None,
        limit: int,
        after: str | None = None,
    ) -> Page[Link]:
        """The rows of `neighbours` for a caller that needs only ids and values.

        Labels, types and qualifiers may be missing, if that is cheaper. An edge for each row, as in `neighbours`. By
        default its rows.
        """
        return await self.neighbours(
            ids, direction, relation_paths=relation_paths, far_end_kind=far_end_kind, limit=limit, after=after
        )

    async def rows_or_relations(
        self,
        ids: Sequence[str],
        direction: Direction,
        *,
        rows: int,
        relations: int,
        hops: int = 1,
        examples: int = 0,
    ) -> RowsOrRelations:
        """Rows at the entities if there are at most `rows` of them; otherwise their relations and no rows.

        This is the first query about an unknown entity. By default `neighbours` is called for all rows or none, and
        then `relations`. A store that counts rows to recognize a hub can do both at once.
        """
        page = await self.neighbours(ids, direction, limit=rows, all_or_none=True)
        if page.stop is not Stop.LIMIT:
            return RowsOrRelations(page)
        facts = await self.relations(ids, direction, hops=hops, examples=examples, limit=relations)
        return RowsOrRelations(page, facts)

    async def matching(
        self,
        ids: Sequence[str],
        direction: Direction | None,
        *,
        relation_paths: Sequence[tuple[str, ...]] | None = None,
        far: FarEndFilter,
        limit: int,
        after: str | None = None,
    ) -> AnchoredPage[Link]:
        """Rows of `neighbours`, filtered by the label of the far end or by words in its name or value.

        The order is that of `neighbours`, but a store that searches lists too long to read returns rows with literals
        first. A word also matches as the beginning of a longer one, and letter case is ignored. If no far end has the
        words, typos are forgiven if the store can. The label is one that `describe` returns. By default at most
        `far_end_filters.MAX_READ` rows are read and compared; a note says when there were more.
        """
        return await far_end_filters.matching(self, MatchRequest(ids, direction, relation_paths, far, limit, after))

    async def edges(
        self,
        heads: Sequence[str],
        tails: Sequence[str],
        *,
        relations: Sequence[str] | None = None,
        limit: int,
        after: str | None = None,
    ) -> Page[Triple]:
        """Triples from any of the heads to any of the tails, by these relations (ids; None means any relation).

        They come in the order of `heads`. If the store allows it, checking a single edge must not cost a hub's degree.
        By default the rows of the heads are read and compared.
        """
        return await defaults.edges(self, heads, tails, relations=relations, limit=limit, after=after)

    async def edge_ids(
        self,
        heads: Sequence[str],
        tails: Sequence[str],
        *,
        relations: Sequence[str] | None = None,
        limit: int,
        after: str | None = None,
    ) -> Page[Triple]:
        """The triples of `edges` for a caller that needs only ids; see `neighbour_ids`. By default its triples."""
        return await self.edges(heads, tails, relations=relations, limit=limit, after=after)

    async def triples_by_qualifier(self, entity: str, *, limit: int) -> tuple[Triple, ...] | None:
        """The first triples that have the entity as a qualifier's value; None if the store cannot tell.

        Called only for entities without rows, so it may cost more than other verbs. By default all rows are read.
        """
        return (
            await defaults.triples_by_qualifier(self, entity, limit=limit)
            if Capability.QUALIFIERS in self.capabilities
            else ()
        )

    async def node_ids(
        self, label: str | None, property_name: str | None, value: str | None, *, limit: int, after: str | None = None
    ) -> Page[Entity]:
        """The entities of `nodes` for a caller that needs only ids; see `neighbour_ids`. By default those of `nodes`.

        Raises:
            UnknownName: the graph has no such label or property.
        """
        return await self.nodes(label, property_name, value, limit=limit, after=after)

    async def values(
        self, property_name: str, owner: str | None, kind: ValueOwner, *, limit: int, after: str | None = None
    ) -> Page[ValueFacts]:
        """Distinct values of a property of the nodes with the label `owner`, or of the edges of the relation `owner`.

        Each value comes with the number of nodes or edges that have it, if the store can count them in time. Numbers
        come first, by size, if the store can sort them so. By default all rows are read.

        Raises:
            UnknownName: the graph has no such property, label or relation.
        """
        return await defaults.values(self, property_name, owner, kind, limit=limit, after=after)

    async def has_several_values(self, property_id: str, kind: ValueOwner) -> bool | None:
        """Whether some node (or edge) has several values of a property, for stores without arrays such as RDF stores.

        There a single value does not show whether it is a list of one. None if the store cannot tell in time. By
        default False: a store with arrays states for each value whether it is one.
        """
        del property_id, kind
        return False

    async def schema(self, name: str | None = None, *, limit: int) -> Schema:
        """Labels, relations and properties of the graph, or those around one label, relation or property.

        By default all rows are read.

        Raises:
            UnknownName: the graph has nothing with that name.
        """
        return await defaults.schema(self, name, limit=limit)

    async def health(self) -> Health:
        """Whether the store answers, the size of the graph, and what is missing for good answers."""
        schema = await self.schema(limit=1)
        return Health(True, type(self).__name__, schema.entities, schema.triples)


class OpenAdapter(Protocol):
    """The callable that an entry point of `kgnav.adapters` names. It makes an adapter for a location, without I/O."""

    def __call__(self, location: str, options: AdapterOptions) -> GraphAdapter: ...
