"""Bootstrap intervals of means over questions, and the sign test for the difference between two arms.

Questions are resampled, not attempts: repeats of a question are averaged first, since they are not independent.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import comb

import numpy as np
from numpy.typing import NDArray

from kgnav_bench.records import Record

Matrix = NDArray[np.float64]


class Interval(Record):
    """A mean over questions with its 95 % interval."""

    mean: float
    low: float
    high: float


def bootstrap(values: Matrix, resamples: int, seed: int) -> list[Interval]:
    """The mean of each column over the rows, with the 2.5th and 97.5th percentile of the means of resampled rows.

    All columns use the same resamples, so a column of differences gives a paired bootstrap.
    """
    rows = len(values)
    generator = np.random.default_rng(seed)
    means = np.empty((resamples, values.shape[1]))
    for number in range(resamples):
        weights = np.bincount(generator.integers(rows, size=rows), minlength=rows)
        means[number] = weights @ values / rows
    low, high = np.percentile(means, (2.5, 97.5), axis=0)
    return [
        Interval(mean=float(mean), low=float(lowest), high=float(highest))
        for mean, lowest, highest in zip(values.mean(axis=0), low, high, strict=True)
    ]


def sign_test(differences: Iterable[float]) -> tuple[int, int, float]:
    """The number of positive and of negative differences, and the exact two-sided p value. Zeros do not count.

    With one attempt per question and a measure of 0 or 1, this is McNemar's exact test.
    """
    signs = [difference > 0 for difference in differences if difference]
    wins, losses = sum(signs), len(signs) - sum(signs)
    tail = sum(comb(len(signs), number) for number in range(min(wins, losses) + 1))
    return wins, losses, min(1.0, 2 * tail / 2 ** len(signs))
