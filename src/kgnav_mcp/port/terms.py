"""Options of adapters, their capabilities, and filters for far ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # numpy is part of an extra
    import numpy as np
    from numpy.typing import NDArray


class Capability(StrEnum):
    """What a store can do beyond the basic verbs. Declared as data, so that no code depends on an adapter's name."""

    EXACT_COUNTS = "exact counts"
    """Counts of relations and totals of pages are exact, at any degree."""
    MEDIATORS = "mediators"
    """Mediators are recognised, and two-hop relations are returned."""
    QUALIFIERS = "qualifiers"
    """Edges have properties of their own."""
    LABELS = "labels"
    """Nodes have labels (classes), so that `nodes` and `values` can be narrowed to one."""
    FUZZY_NAMES = "fuzzy names"
    """`find` forgives misspelt words."""
    PLANS = "plans"
    """`run` answers plans, or parts of them, in the store's own language; other plans are evaluated outside."""
    STABLE_CURSORS = "stable cursors"
    """Positions stay valid, because the store cannot be written to while it is open."""


class FarEndKind(StrEnum):
    """What the far end of a triple is: a node of the graph, or a value."""

    ENTITY = "entity"
    LITERAL = "literal"


@dataclass(frozen=True, slots=True)
class FarEndFilter:
    """A filter for the far ends of rows: their kind, their label, and words in their name or value.

    None leaves out a condition. A literal has no label. `shown_labels` are the texts by which nodes show the label;
    empty: they show it as it is given.
    """

    kind: FarEndKind | None = None
    label: str | None = None
    words: str | None = None
    shown_labels: tuple[str, ...] = ()

    @property
    def is_selective(self) -> bool:
        """Whether each far end must be examined: by label or words, not by kind only."""
        return self.label is not None or self.words is not None


ANY_FAR_END = FarEndFilter()


class ValueOwner(StrEnum):
    """Whether a property is one of nodes or of relationships: GraphWalk's `entity_type`."""

    NODE = "node"
    RELATIONSHIP = "relationship"


class Embedder(Protocol):
    """A sentence model: turns a text into a unit vector. Safe for several threads; slow, so call it in one."""

    @property
    def model(self) -> str:
        """The name of the model. Vectors of different models cannot be compared."""
        ...

    def __call__(self, text: str) -> NDArray[np.float32]: ...


@dataclass(frozen=True, slots=True)
class MeaningOptions:
    """Options of finding entities by meaning."""

    load: Callable[[], Embedder]
    """Loads the model, or returns the one that is loaded. Raises ConfigurationError if it is not installed."""
    threshold: float
    """The least similarity, GraphRunner's theta."""
    build: bool = False
    """Whether a missing index is built when it is first needed. Otherwise only an existing one is used."""


@dataclass(frozen=True, slots=True)
class AdapterOptions:
    """The options of every adapter, in addition to its location."""

    languages: tuple[str, ...] = ("en",)
    """Languages of names in order of preference."""
    timeout: float = 30.0
    """Seconds that a query of the store may take before StoreTimeout is raised; a verb may need several queries."""
    contact: str = ""
    """Contact of the operator, sent to public stores: an e-mail address or a web page; empty for none."""
    cache: Path | None = None
    """The folder of the cache; None caches nothing on disk."""
    raw_triples: bool = False
    """Triples as the store has them: nothing is hidden, and a Wikibase's statements are their bare values (`wdt:`)."""
    meaning: MeaningOptions | None = None
    """How entities are found by meaning, for stores that support it; None: only by words."""
    extra: Mapping[str, object] = field(default_factory=dict[str, object])
    """Settings of this kind of store, from the graph's table `options` in kgnav.toml."""
