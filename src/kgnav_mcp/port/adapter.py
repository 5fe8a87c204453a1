"""The verbs that a store answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Protocol, Self

from kgnav_mcp.errors import Unsupported
from kgnav_mcp.model import (
    AnchoredPage,
    Candidate,
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
)
from kgnav_mcp.plan import Plan
from kgnav_mcp.port import defaults, matching, scanning
from kgnav_mcp.port.fitting import Fit, FitQuestion
from kgnav_mcp.port.matching import MatchQuestion
from kgnav_mcp.port.names import one_by_one
from kgnav_mcp.port.terms import AdapterOptions, Capability, FarEnds, TailKind, ValueOwner


class GraphAdapter(ABC):
    """One open graph. Safe for concurrent calls of one event loop.

    A call that is cancelled, or out of time, ends here at once, and its query in the store as soon as the store lets
    a caller end one: at the latest when the query's time in the store is over, which the adapter sets by `timeout`.
    """

    capabilities: frozenset[Capability]
    """Those of the kind of store; once a graph is open, those of this graph."""

    async def open(self) -> None:  # noqa: B027 - a graph in memory has nothing to open
        """Connect, or open the file. Called once before any verb; cheap enough for the first call of a session.

        Raises:
            StoreUnavailable: nothing answers at the location.
            InvalidStore: what is there is damaged, of another version or no graph.
        """

    async def close(self) -> None:  # noqa: B027 - nor to close
        """Give back every connection, thread and file. Safe to call twice."""

    @property
    @abstractmethod
    def revision(self) -> str:
        """A short text that changes when the graph may have changed: cursors are bound to it."""

    @property
    def stale(self) -> bool:
        """Whether another store stands at the location now than the one that was opened: a graph file was replaced.

        Read before every call, so it must cost next to nothing. Once it is true, the next call gets an adapter that
        is opened anew. Calls under way end on this one, which still answers from what it opened; then it is closed.
        A store that is written to in place is never stale: its `revision` changes.
        """
        return False

    @property
    def class_relations(self) -> frozenset[str]:
        """Ids of the relations that state the labels (classes) of mediators: such a class is not one of their roles."""
        return frozenset()

    @property
    def subclass_relations(self) -> frozenset[str]:
        """Ids of the relations that lead from a class to the classes above it; none where classes have none above."""
        return frozenset()

    @property
    def coined_prefixes(self) -> Mapping[str, str]:
        """Prefixes that no source of the graph declares, with their namespaces: an answer that uses one says so."""
        return {}

    @abstractmethod
    async def describe(self, ids: Sequence[str]) -> Mapping[str, Entity]:
        """Entities by id: label, types, description. Keys are the ids as given; unknown ones are absent."""

    async def named(self, name: str, *, limit: int) -> Page[Namesake]:
        """Entities that bear this name in any language: those that spell it just so first, then other letter cases.

        Among these the preferred language is first. An alias counts where no entity has the name, and an id without
        its prefix (`Q42`) where none has that either. Other letter cases may be left out where some spell it so, or
        where the store would have to read every name. By default: those that `find` gives the highest score.
        """
        return await defaults.named(self, name, limit=limit)

    async def named_each(self, names: Sequence[str], *, limit: int) -> Mapping[str, Page[Namesake]]:
        """As `named` for each of some names, by a few queries. By default one after the other.

        Raises:
            InvalidArgument: there are more names than the store looks up in one call.
        """
        return await one_by_one(names, lambda name: self.named(name, limit=limit))

    @abstractmethod
    async def find(self, hint: str, *, label: str | None = None, limit: int) -> Page[Candidate]:
        """Entities a hint may mean, best first: names, aliases, typos, other languages, descriptions.

        Raises:
            UnknownName: the graph has no such label.
        """

    async def relations(
        self,
        ids: Sequence[str],
        direction: Direction | None,
        *,
        hops: int = 1,
        far_ends: TailKind | None = None,
        examples: int = 0,
        limit: int,
    ) -> AnchoredPage[RelationFacts]:
        """The distinct relations of the entities, with counts for each entity; ordered by direction and relation id.

        `direction` None: both, outgoing first. With `hops` 2 the two-hop relations through mediators are stated as
        well. `examples` far ends are given with each; `far_ends` counts only rows that end at entities, or at
        literals. At a hub the cost should follow the number of relations, not the degree. By default all rows are
        read and counted.
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
        far_ends: TailKind | None = None,
        limit: int,
        after: str | None = None,
        all_or_none: bool = False,
    ) -> AnchoredPage[Link]:
        """The triples at the entities, far ends described with their labels (types are optional).

        `direction` None: both, all outgoing ones first. Within a direction rows come entity by entity in the order
        asked for, and those of one relation of an entity are adjacent. `paths` narrows to relation ids: `(rel,)`, or
        `(rel1, rel2)` for a two-hop relation through a mediator, whose triples have that mediator as `via`. Outgoing
        triples include those with literal tails; `far_ends` narrows to entities or to literals. A page deep in a hub
        must not cost more than the first where the store allows it.

        `all_or_none`: where there are more rows than `limit`, the first page has none, nor anchors, but the stop LIMIT
        and a total above the limit: no row of a hub is read, and nothing named, to learn that it is one.
        """

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
        """The rows at the entities where there are no more than so many, else their relations and no row.

        What a walk asks first of an entity of which nothing is known. By default `neighbours` is asked for all rows or
        none, and then `relations`; a store that counts rows to tell a hub can do both at once.
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
        """Of the rows that `neighbours` gives those whose far ends have a label, or words in their name or value.

        In the same order; where a store searches lists that are too long to read, their values come first. A word may
        stand for the beginning of one; letter case does not count, and where no far end has the words, typos are
        forgiven if the store can. The label is one of those that `describe` gives. By default rows are read and
        compared, `matching.MOST_READ` at most; a note says where that was not all.
        """
        return await matching.matching(self, MatchQuestion(ids, direction, paths, far, limit, after))

    async def edges(
        self,
        heads: Sequence[str],
        tails: Sequence[str],
        *,
        relations: Sequence[str] | None = None,
        limit: int,
        after: str | None = None,
    ) -> Page[Triple]:
        """The triples that lead from one of some entities to one of others, by these relations (ids; None: by any).

        In the order of the heads as they are given. Whether one edge is there must not cost a hub's degree where the
        store allows it. By default the rows of the heads are read and compared.
        """
        return await defaults.edges(self, heads, tails, relations=relations, limit=limit, after=after)

    async def qualified(self, entity: str, *, limit: int) -> tuple[Triple, ...] | None:
        """The first triples that have the entity as the value of a qualifier; None: the store cannot tell.

        Asked only of entities without rows, so that it may cost more than other verbs. By default all rows are read.
        """
        return await scanning.qualified(self, entity, limit=limit) if Capability.QUALIFIERS in self.capabilities else ()

    @abstractmethod
    async def nodes(
        self, label: str | None, property_name: str | None, value: str | None, *, limit: int, after: str | None = None
    ) -> Page[Entity]:
        """Nodes with a label whose property has a value, compared as text; None leaves that condition out.

        With a limit of 0 they are only counted.

        Raises:
            UnknownName: the graph has no such label or property.
        """

    async def values(
        self, property_name: str, owner: str | None, kind: ValueOwner, *, limit: int, after: str | None = None
    ) -> Page[ValueFacts]:
        """The distinct values of a property, over the nodes with the label `owner` or the edges of that relation.

        Each with the number of these nodes or edges that have it, where the store can count them in time.

        Numbers come first, by their size, where the store can sort them so. By default all rows are read.

        Raises:
            UnknownName: the graph has no such property, label or relation.
        """
        return await scanning.values(self, property_name, owner, kind, limit=limit, after=after)

    async def schema(self, name: str | None = None, *, limit: int) -> Schema:
        """What the graph is made of, or the part of it around one label, relation or property.

        By default all rows are read.

        Raises:
            UnknownName: nothing of that name is in the graph.
        """
        return await scanning.schema(self, name, limit=limit)

    async def run(self, plan: Plan, *, limit: int, after: str | None = None) -> PlanPage:
        """The rows of a plan in the graph's own ids, asked of the store in one query where its language has the words.

        In the order that the algebra states. A position is the number of rows before it; a dot and more may follow.

        Raises:
            Unsupported: the store's language, or this adapter, has no words for a part of the plan.
        """
        del plan, limit, after
        raise Unsupported("this store runs no plans", next_step="Walk with search or get_triples.")

    async def fits(self, asked: FitQuestion, *, limit: int) -> Sequence[Fit]:
        """Around which nodes a pattern of a plan fits, asked of the store in one query, or in few: each nodes once.

        There are no more than `limit`, in any order; as many tell that there may be more. Edges and labels are those
        that `neighbours` and `describe` show. What the store could not say whole is an error, never a part.

        Raises:
            Unsupported: the store's language, or this adapter, has no words for a part of the pattern.
            StoreTimeout: the answer was not there in time.
        """
        del asked, limit
        raise Unsupported("this store fits no patterns", next_step="Walk with search or get_triples.")

    async def health(self) -> Health:
        """Whether the store answers, how large the graph is, and what is missing for good answers."""
        return await defaults.health(self)

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class OpenAdapter(Protocol):
    """What an entry point of `kgnav.adapters` names: makes an adapter for a location without any I/O."""

    def __call__(self, location: str, options: AdapterOptions) -> GraphAdapter: ...
