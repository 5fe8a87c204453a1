"""What an adapter is given, and how it says what it can do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


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
    PLANS = "plans"
    """`run` answers plans in the store's own language; those it cannot raise Unsupported, and are evaluated outside."""
    FITS = "fits"
    """`fits` answers patterns of plans in the store's own language; those it cannot raise Unsupported."""
    STABLE_CURSORS = "stable cursors"
    """A position stays valid whatever is written meanwhile, because nothing can be."""


class TailKind(StrEnum):
    """What the far end of a triple is: a node of the graph, or a value."""

    ENTITY = "entity"
    LITERAL = "literal"


@dataclass(frozen=True, slots=True)
class FarEnds:
    """Which far ends of rows are wanted: of this kind, with this label, whose name or value has these words.

    What is None is not asked for. A value has no label.
    """

    kind: TailKind | None = None
    label: str | None = None
    words: str | None = None

    @property
    def narrow(self) -> bool:
        """Whether single far ends are looked at, and not only their kind."""
        return self.label is not None or self.words is not None


ANY_FAR_ENDS = FarEnds()


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
