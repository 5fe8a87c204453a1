"""Counts with how sure they are, and pages of longer lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar

from kgnav_mcp.model.values import Entity

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Certainty(StrEnum):
    """How much a count can be trusted."""

    EXACT = "exact"
    AT_LEAST = "at least"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Count:
    """A number of rows with how sure it is. An unknown count has the value 0, which means nothing."""

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
        """The sum of any number of counts, as sure as the least sure of them."""
        total, exact = 0, True
        for count in counts:
            total += count.value
            exact = exact and count.certainty is Certainty.EXACT
        return cls(total, Certainty.EXACT if exact else Certainty.AT_LEAST)

    def __str__(self) -> str:
        """`4,030`, `4,030+` where it is a lower bound, `?` where it is unknown."""
        marks = {Certainty.EXACT: "", Certainty.AT_LEAST: "+"}
        return f"{self.value:,}{marks[self.certainty]}" if self.certainty in marks else "?"

    def __add__(self, other: Count) -> Count:
        """The sum is as sure as its less sure part; an unknown part leaves a lower bound."""
        exact = self.certainty is other.certainty is Certainty.EXACT
        return Count(self.value + other.value, Certainty.EXACT if exact else Certainty.AT_LEAST)


class Stop(StrEnum):
    """Why an answer ends where it ends."""

    COMPLETE = "complete"
    LIMIT = "limit"
    BUDGET = "budget"
    ROW_CAP = "row cap"
    TIME_OUT = "time-out"

    @classmethod
    def first(cls, stops: Iterable[Stop]) -> Stop:
        """The first of several reasons that is not completeness."""
        return next((stop for stop in stops if stop is not cls.COMPLETE), cls.COMPLETE)


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One bounded read of a longer list, in an order that is the same at every call.

    `positions` runs parallel to `items`: passing `positions[i]` back as `after` goes on behind item i.
    `total` counts the whole list, not this page. `stop` is COMPLETE when nothing follows the last item. `note` is a
    word on how the list was made, where that is not as usual.
    """

    items: tuple[T, ...]
    positions: tuple[str, ...]
    total: Count
    stop: Stop = Stop.COMPLETE
    note: str = ""


@dataclass(frozen=True, slots=True)
class AnchoredPage(Page[T]):
    """A page of what is at some entities, its anchors.

    `anchors` says what the ids that were asked for are: id as given to entity, with its label at least. An id that the
    graph lacks is absent. A page that starts behind another (`after`) may leave out anchors without rows on it.
    `without` are the anchors that have nothing in the whole list; None: the page does not tell.
    """

    anchors: Mapping[str, Entity] = field(default_factory=dict[str, Entity])
    without: tuple[Entity, ...] | None = None


def anchored(page: Page[T], anchors: Mapping[str, Entity]) -> AnchoredPage[T]:
    """A page with its anchors."""
    return AnchoredPage(page.items, page.positions, page.total, page.stop, page.note, anchors)
