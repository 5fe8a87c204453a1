"""Counts with their certainty, and pages of longer lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar

from kgnav_mcp.model.values import Entity

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Certainty(StrEnum):
    """How certain a count is."""

    EXACT = "exact"
    AT_LEAST = "at least"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Count:
    """A number of rows with its certainty. An unknown count has the value 0, which has no meaning."""

    value: int
    certainty: Certainty = Certainty.EXACT

    @classmethod
    def at_least(cls, value: int) -> Count:
        return cls(value, Certainty.AT_LEAST)

    @classmethod
    def unknown(cls) -> Count:
        return cls(0, Certainty.UNKNOWN)

    @classmethod
    def sum(cls, counts: Iterable[Count]) -> Count:
        """The sum of counts: exact if all of them are, otherwise a lower bound."""
        total, exact = 0, True
        for count in counts:
            total += count.value
            exact = exact and count.certainty is Certainty.EXACT
        return cls(total, Certainty.EXACT if exact else Certainty.AT_LEAST)

    def __str__(self) -> str:
        """`4,030`; `4,030+` for a lower bound; `?` if it is unknown."""
        marks = {Certainty.EXACT: "", Certainty.AT_LEAST: "+"}
        return f"{self.value:,}{marks[self.certainty]}" if self.certainty in marks else "?"

    def __add__(self, other: Count) -> Count:
        """The sum: exact if both counts are, otherwise a lower bound."""
        exact = self.certainty is other.certainty is Certainty.EXACT
        return Count(self.value + other.value, Certainty.EXACT if exact else Certainty.AT_LEAST)


class Stop(StrEnum):
    """Why a list ends where it does."""

    COMPLETE = "complete"
    LIMIT = "limit"
    BUDGET = "budget"
    ROW_CAP = "row cap"
    TIME_OUT = "time-out"
    UNORDERED = "unordered"
    """The store could not sort the list, so that no later page could tell which rows were shown."""

    @classmethod
    def first(cls, stops: Iterable[Stop]) -> Stop:
        """The first of several reasons that is not COMPLETE; COMPLETE if all are."""
        return next((stop for stop in stops if stop is not cls.COMPLETE), cls.COMPLETE)


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One bounded read of a longer list, in an order that is the same at every call.

    `positions` is parallel to `items`: with `positions[i]` as `after`, the next page starts after item i. `total`
    counts the whole list, not this page. `stop` is COMPLETE if nothing follows the last item. `note` says what is
    unusual about the list, if anything.
    """

    items: tuple[T, ...]
    positions: tuple[str, ...]
    total: Count
    stop: Stop = Stop.COMPLETE
    note: str = ""


@dataclass(frozen=True, slots=True)
class AnchoredPage(Page[T]):
    """A page of rows or relations at some entities, the anchors.

    `anchors` maps each id, as it was given, to its entity, which has at least a label. Unknown ids are absent. A later
    page (`after`) may omit anchors that have no rows on it. `without` are the anchors that have no items in the whole
    list; None: the page does not say.
    """

    anchors: Mapping[str, Entity] = field(default_factory=dict[str, Entity])
    without: tuple[Entity, ...] | None = None


def anchored(page: Page[T], anchors: Mapping[str, Entity]) -> AnchoredPage[T]:
    """A page with its anchors."""
    return AnchoredPage(page.items, page.positions, page.total, page.stop, page.note, anchors)
