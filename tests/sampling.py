"""Parameters of which a sample is tried in the main run, and all others by `make test-extended`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

import pytest

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

T = TypeVar("T")


def sampled(values: Iterable[T], every: int) -> Sequence[T | ParameterSet]:
    """One of `every` values in the main run, beginning with the first."""
    return [value if place % every == 0 else extended(value) for place, value in enumerate(values)]


def extended(value: object) -> ParameterSet:
    """A parameter that is not tried in the main run."""
    return pytest.param(value, marks=pytest.mark.extended)
