"""Parameters and tests of which a sample is tried in the main run, and all others by `make test-extended`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

import pytest

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

T = TypeVar("T")


def sampled(values: Iterable[T], every: int) -> Sequence[T | ParameterSet]:
    """One of `every` values in the main run, beginning with the first."""
    return [value if place % every == 0 else extended(value) for place, value in enumerate(values)]


def sampled_rows(rows: Iterable[tuple[object, ...]], every: int) -> Sequence[ParameterSet]:
    """As `sampled`, of the values of several parameters."""
    return [pytest.param(*row, marks=[pytest.mark.extended] if place % every else []) for place, row in enumerate(rows)]


def extended(value: object) -> ParameterSet:
    """A parameter that is not tried in the main run."""
    return pytest.param(value, marks=pytest.mark.extended)


def extend_unsampled(items: Iterable[pytest.Item]) -> None:
    """Leave tests of classes with the mark `one_in(every, first=0, of="")` to extended tests.

    The main run has one of `every` tests, beginning with number `first`; none where `every` is 0. `of` restricts that
    to tests that have it in their name.
    """
    places = Counter[tuple[object, str]]()

    def leave(item: pytest.Item, every: int, first: int = 0, of: str = "") -> None:
        if of in item.name:
            if every == 0 or places[item.parent, of] % every != first:
                item.add_marker(pytest.mark.extended)
            places[item.parent, of] += 1

    for item in items:
        for mark in item.iter_markers("one_in"):
            leave(item, *mark.args, **mark.kwargs)
