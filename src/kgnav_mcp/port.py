"""What a store must answer: ten verbs, async, with the words of `model` going in and out.

Every verb that reads a list takes a set of entities where that makes sense, is bounded by a limit, and answers in
an order that is the same at every call. An adapter states facts; it never collapses, ranks, flattens or cuts to a
budget: that is `navigation`. Errors are those of `errors`, translated at one place in the adapter.

Ids go in as a user may write them (short, full, with a prefix) and come out in the one form that answers print.
A verb given an id the store does not have leaves it out; it does not fail.

Adapters are found by the entry-point group `kgnav.adapters`: the entry point's name is the URL scheme, its value a
callable `open_adapter(location: str, options: AdapterOptions) -> GraphAdapter` that does no I/O yet.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol, Self

from kgnav_mcp.model import (
    Candidate,
    Direction,
    Entity,
    Health,
    Literal,
    Namesake,
    Page,
    RelationFacts,
    Schema,
    Triple,
)


class Capability(StrEnum):
    """What a store can do beyond answering: declared as data, so that nobody asks an adapter for its name."""

    EXACT_COUNTS = "exact counts"
    """Counts of relations and totals of pages are exact, at any degree."""
    MEDIATORS = "mediators"
    """Mediators are recognised and two-hop relations stated."""
    QUALIFIERS = "qualifiers"
    """Edges have properties of their own."""
    LABELS = "labels"
    """Nodes have labels (classes), so that `nodes` and `values` can be narrowed to one."""
    FUZZY_NAMES = "fuzzy names"
    """`find` forgives misspelt words."""
    STABLE_CURSORS = "stable cursors"
    """A position stays valid whatever is written meanwhile, because nothing can be."""


class TailKind(StrEnum):
    """What the far end of a triple is: a node of the graph, or a value."""

    ENTITY = "entity"
    LITERAL = "literal"


class ValueOwner(StrEnum):
    """Whose property is meant: GraphWalk's `entity_type`."""

    NODE = "node"
    RELATIONSHIP = "relationship"


@dataclass(frozen=True, slots=True)
class AdapterOptions:
    """What every adapter is given beside its location."""

    languages: tuple[str, ...] = ("en",)
    """Languages of names in order of preference."""
    timeout: float = 30.0
    """Seconds that a query of the store may take before StoreTimeout is raised; a verb may need several queries."""
    contact: str = ""
    """Who runs this program, for stores that want to know: an e-mail address or a web page; empty: nobody is named."""
    cache: Path | None = None
    """A folder for what can be read again from the store; None: nothing is kept."""
    extra: Mapping[str, object] = field(default_factory=dict[str, object])
    """Settings of this one kind of store, from the graph's table in kgnav.toml."""


class GraphAdapter(ABC):
    """One open graph. Safe for concurrent calls of one event loop.

    A call that is cancelled, or out of time, ends here at once, and its query in the store as soon as the store lets
    a caller end one: at the latest when the query's time in the store is over, which the adapter sets by `timeout`.
    """

    capabilities: frozenset[Capability]
    """Those of the kind of store; once a graph is open, those of this graph."""

    @abstractmethod
    async def open(self) -> None:
        """Connect, or open the file. Called once before any verb; cheap enough for the first call of a session.

        Raises:
            StoreUnavailable: nothing answers at the location.
            InvalidStore: what is there is damaged, of another version or no graph.
        """

    @abstractmethod
    async def close(self) -> None:
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
        """Ids of the relations that state the labels (classes) of nodes, in a graph where mediators have some, too.

        What class a mediator is of is none of the roles that it ties together.
        """
        return frozenset()

    @property
    def coined_prefixes(self) -> Mapping[str, str]:
        """Prefixes that no source of the graph declares, with their namespaces: an answer that uses one says so."""
        return {}

    @abstractmethod
    async def entities(self, ids: Sequence[str]) -> Mapping[str, Entity]:
        """Describe entities by id: label, types, description. Keys are the ids as given; unknown ones are absent."""

    @abstractmethod
    async def named(self, name: str, *, limit: int) -> Page[Namesake]:
        """Entities that bear this name in any language: who spells it just so first, then other letter cases.

        Among these the preferred language is first. An alias counts where no entity has the name, and an id without
        its prefix (`Q42`) where none has that either. Other letter cases may be left out where some spell it so, or
        where the store would have to read every name.
        """

    @abstractmethod
    async def find(self, hint: str, *, label: str | None = None, limit: int) -> Page[Candidate]:
        """Entities a hint may mean, best first: names, aliases, typos, other languages, descriptions.

        Raises:
            UnknownName: the graph has no such label.
        """

    @abstractmethod
    async def relations(
        self,
        ids: Sequence[str],
        direction: Direction,
        *,
        hops: int = 1,
        far_ends: TailKind | None = None,
        examples: int = 0,
        limit: int,
    ) -> Page[RelationFacts]:
        """The distinct relations of the entities in one direction, with counts, ordered by relation id.

        With `hops` 2 the two-hop relations through mediators are stated as well. `examples` far ends are given with
        each; `far_ends` counts only rows that end at entities, or at literals. At a hub the cost must follow the
        number of relations, not the degree.
        """

    @abstractmethod
    async def neighbours(
        self,
        ids: Sequence[str],
        direction: Direction,
        *,
        paths: Sequence[tuple[str, ...]] | None = None,
        far_ends: TailKind | None = None,
        limit: int,
        after: str | None = None,
        whole: bool = False,
    ) -> Page[Triple]:
        """The triples at the entities in one direction, far ends described with their labels (types are optional).

        `paths` narrows to relation ids: `(rel,)`, or `(rel1, rel2)` for a two-hop relation through a mediator, whose
        triples have that mediator as `via`. Outgoing triples include those with literal tails; `far_ends` narrows to
        entities or to literals. Rows of one relation are adjacent. A page deep in a hub must not cost more than the
        first where the store allows it.

        With `whole` only a list that fits the limit is wanted: a longer one is answered by a page without items, with
        the stop LIMIT and a total above the limit, so that nothing of a hub need be read or named to learn that it
        is one.
        """

    async def qualified(self, entity: str, *, limit: int) -> tuple[Triple, ...] | None:  # noqa: ARG002 - for adapters
        """The first triples that have the entity as the value of a qualifier; None: the store cannot tell.

        Asked only of entities without rows, so that it may cost more than other verbs.
        """
        return None if Capability.QUALIFIERS in self.capabilities else ()

    @abstractmethod
    async def nodes(
        self, label: str | None, property_name: str | None, value: str | None, *, limit: int, after: str | None = None
    ) -> Page[Entity]:
        """Nodes with a label whose property has a value, compared as text; None leaves that condition out.

        Raises:
            UnknownName: the graph has no such label or property.
        """

    @abstractmethod
    async def values(
        self, property_name: str, owner: str | None, kind: ValueOwner, *, limit: int, after: str | None = None
    ) -> Page[Literal]:
        """The distinct values of a property, over the nodes with the label `owner` or the edges of that relation.

        Raises:
            UnknownName: the graph has no such property, label or relation.
        """

    @abstractmethod
    async def schema(self, name: str | None = None, *, limit: int) -> Schema:
        """What the graph is made of, or the part of it around one label, relation or property.

        Raises:
            UnknownName: nothing of that name is in the graph.
        """

    @abstractmethod
    async def health(self) -> Health:
        """Whether the store answers, how large the graph is, and what is missing for good answers."""

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class OpenAdapter(Protocol):
    """What an entry point of `kgnav.adapters` names: makes an adapter for a location without any I/O."""

    def __call__(self, location: str, options: AdapterOptions) -> GraphAdapter: ...
