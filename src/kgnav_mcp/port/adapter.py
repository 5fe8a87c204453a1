"""The verbs that a store answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, Self

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
    Triple,
    ValueFacts,
    ValueMatch,
)
from kgnav_mcp.port import defaults, far_end_filters
from kgnav_mcp.port.defaults import one_by_one
from kgnav_mcp.port.far_end_filters import MatchRequest
from kgnav_mcp.port.terms import AdapterOptions, Capability, FarEndKind, FarEnds, ValueOwner

if TYPE_CHECKING:
    from kgnav_mcp.plan import Plan


class OpenableGraph(ABC):
    """A graph that is opened before its verbs are called, and closed after them."""

    async def open(self) -> None:  # noqa: B027 - a graph in memory has nothing to open
        """Connect, or open the file. Called once before any verb; cheap enough for the first call of a session.

        Raises:
            StoreUnavailable: nothing answers at the location.
            InvalidStore: what is there is damaged, of another version or no graph.
        """

    async def close(self) -> None:  # noqa: B027 - nor to close
        """Release every connection, thread and file. Safe to call twice."""

    @property
    @abstractmethod
    def revision(self) -> str:
        """A short text that changes whenever the graph may have changed. Cursors are bound to it."""

    @property
    def stale(self) -> bool:
        """Whether the store at the location was replaced since it was opened, such as a graph file.

        Read before every call, so it must cost next to nothing. Once it is true, the next call gets a newly opened
        adapter. Running calls finish on this one, which still answers from what it opened; then it is closed.
        A store that is written to in place is never stale: its `revision` changes instead.
        """
        return False

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class PlanVerbs(ABC):  # noqa: B024 - each verb has a default: the store does not have it
    """What a store can do of plans. By default nothing; an adapter that overrides `run` declares Capability.PLANS."""

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
        """Whether a plan `in_any_order`, as for `run`, certainly has more rows than this.

        A hint, found without reading them, at the first row too many: where a query cannot be stopped, it is asked
        before a long one is begun. False also if the store cannot tell, as by default.

        Raises:
            Unsupported, StoreTimeout: as `run`.
        """
        del plan, than
        return False


class GraphAdapter(OpenableGraph, PlanVerbs):
    """One open graph. Safe for concurrent calls of one event loop.

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
        """Prefixes that the adapter made up, with their namespaces. Answers declare those that they use."""
        return {}

    @abstractmethod
    async def describe(self, ids: Sequence[str]) -> Mapping[str, Entity]:
        """Entities by id, with label, types and description. Keys are the ids as given; unknown ids are absent."""

    async def find_by_name(self, name: str, *, limit: int) -> Page[Namesake]:
        """Entities with this name in any language: exact spelling first, then other letter cases.

        Within each group, names in the preferred language come first. If no entity has the name, aliases count. If
        none has the alias either, an id without its prefix (`Q42`) counts. Other letter cases may be left out if some
        entity has the exact spelling, or if the store would have to read every name. By default: the best candidates
        of `find` that have the name.
        """
        return await defaults.named(self, name, limit=limit)

    async def find_by_names(self, names: Sequence[str], *, limit: int) -> Mapping[str, Page[Namesake]]:
        """The result of `find_by_name` for each name, read by a few queries. By default it is called for each.

        Raises:
            InvalidArgument: there are more names than the store looks up in one call.
        """
        return await one_by_one(names, lambda name: self.find_by_name(name, limit=limit))

    async def find_by_values(self, values: Sequence[str], *, limit: int) -> Mapping[str, Sequence[ValueMatch]]:
        """Entities that have a property with exactly one of these texts as its value, such as a code or a foreign key.

        At most `limit` matches for each text, in any order; texts without a match may be absent. Only texts without a
        language are compared, no numbers or dates. A store whose values are not indexed may leave out what it would
        have to read millions of nodes for. By default all rows are read.
        """
        return await defaults.nodes_with_values(self, values, limit=limit)

    @abstractmethod
    async def find(self, hint: str, *, label: str | None = None, limit: int) -> Page[Candidate]:
        """Entities that a hint may mean, best first. It may match a name, alias or description in any language.

        Typos are forgiven if the adapter has Capability.FUZZY_NAMES.

        Raises:
            UnknownName: the graph has no such label.
        """

    async def find_by_meaning(self, hint: str, *, label: str | None = None, limit: int) -> Page[Candidate]:
        """Entities whose name and description mean what a hint means, most similar first, each with its similarity.

        Only those at least as similar as AdapterOptions.meaning demands. By default there are none: a store without
        vectors of its entities searches by words alone.

        Raises:
            UnknownName: the graph has no such label.
        """
        del hint, label, limit
        return Page((), (), Count(0))

    @property
    def indexing_progress(self) -> str:
        """How far the adapter is with an index that `find_by_meaning` waits for; empty if there is none."""
        return ""

    async def relations(
        self,
        ids: Sequence[str],
        direction: Direction | None,
        *,
        hops: int = 1,
        far_ends: FarEndKind | None = None,
        examples: int = 0,
        limit: int,
    ) -> AnchoredPage[RelationFacts]:
        """Distinct relations of the entities, with counts for each entity; ordered by direction and relation id.

        `direction` None means both, outgoing first. With `hops` 2, two-hop relations through mediators are included.
        Each relation comes with up to `examples` far ends. `far_ends` restricts the counted rows to those that end at
        entities, or at literals. At a hub the cost should depend on the number of relations, not on the degree. By
        default all rows are read and counted.
        """
        return await defaults.relations(
            self, ids, direction, hops=hops, far_ends=far_ends, examples=examples, limit=limit
        )

    @abstractmethod
    async def neighbours(
        self,
        ids: Sequence[str],
        direction: Direction | None,
        *,
        paths: Sequence[tuple[str, ...]] | None = None,
        far_ends: FarEndKind | None = None,
        limit: int,
        after: str | None = None,
        all_or_none: bool = False,
    ) -> AnchoredPage[Link]:
        """Triples at the entities. Far ends come with their labels; their types are optional.

        `direction` None means both, all outgoing triples first. Within a direction, rows are grouped by entity in the
        order of `ids`, and the rows of one relation of an entity are adjacent. `paths` selects relations by id:
        `(rel,)`, or `(rel1, rel2)` for a two-hop relation through a mediator, whose triples have that mediator as
        `via`. Outgoing triples include those with literal tails; `far_ends` selects entities or literals only. If the
        store allows it, a page deep in a hub must not cost more than the first.

        `all_or_none`: all rows or none. Over `limit`, the first page has no items and no anchors, the stop LIMIT and a
        total above the limit. So a hub is recognised without reading its rows or looking up names.
        """

    async def neighbour_ids(
        self,
        ids: Sequence[str],
        direction: Direction | None,
        *,
        paths: Sequence[tuple[str, ...]] | None = None,
        far_ends: FarEndKind | None = None,
        limit: int,
        after: str | None = None,
    ) -> Page[Link]:
        """The rows of `neighbours` for a caller that needs only ids and values.

        Labels, types and qualifiers may be missing, if that is cheaper. An edge for each row, as in `neighbours`. By
        default its rows.
        """
        return await self.neighbours(ids, direction, paths=paths, far_ends=far_ends, limit=limit, after=after)

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

        This is the first question about an entity of which nothing is known. By default `neighbours` is asked for all
        rows or none, and then `relations`; a store that counts rows to recognise a hub can do both at once.
        """
        return await defaults.rows_or_relations(
            self, ids, direction, rows=rows, relations=relations, hops=hops, examples=examples
        )

    async def matching(
        self,
        ids: Sequence[str],
        direction: Direction | None,
        *,
        paths: Sequence[tuple[str, ...]] | None = None,
        far: FarEnds,
        limit: int,
        after: str | None = None,
    ) -> AnchoredPage[Link]:
        """Rows of `neighbours`, filtered by the label of the far end or by words in its name or value.

        The order is that of `neighbours`, but a store that searches lists too long to read returns rows with literals
        first. A word also matches as the beginning of a longer one, and letter case is ignored. If no far end has the
        words, typos are forgiven if the store can. The label is one that `describe` returns. By default at most
        `matching.MOST_READ` rows are read and compared; a note says when there were more.
        """
        return await far_end_filters.matching(self, MatchRequest(ids, direction, paths, far, limit, after))

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
        return await defaults.qualified(self, entity, limit=limit) if Capability.QUALIFIERS in self.capabilities else ()

    @abstractmethod
    async def nodes(
        self, label: str | None, property_name: str | None, value: str | None, *, limit: int, after: str | None = None
    ) -> Page[Entity]:
        """Nodes with this label whose property has this value. None leaves out a condition.

        The value is compared as `WantedValue.equals` does: numbers as numbers, dates by the precision of both, texts as
        texts; of a list, each item. With a limit of 0 the nodes are only counted.

        Raises:
            UnknownName: the graph has no such label or property.
        """

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
        return await defaults.health(self)


class OpenAdapter(Protocol):
    """The callable that an entry point of `kgnav.adapters` names. It makes an adapter for a location, without I/O."""

    def __call__(self, location: str, options: AdapterOptions) -> GraphAdapter: ...
