"""Precision, recall and F1 of a set of answers against the set of true ones. They are computed only here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SetScore:
    """How a set of answers compares with the true set (GraphWalk, table 2)."""

    correct: bool
    """Whether all true answers are given, and no other."""
    precision: float
    recall: float
    f1: float
    false_positives: int
    """Number of given answers that are not true."""


def set_score(*, given: int, right: int, found: int, wanted: int) -> SetScore:
    """The score of `given` distinct answers, of which `right` are true and give `found` of the `wanted` true answers.

    An empty answer to a question without answers is right: precision, recall and F1 are 1. Otherwise an empty set on
    either side makes all three 0. `found` exceeds `wanted` if a question asks for one of several valid answers and more
    are given: all of them are true, but the set is not correct.
    """
    if not given and not wanted:
        return SetScore(True, 1.0, 1.0, 1.0, 0)
    precision = right / given if given else 0.0
    recall = min(found / wanted, 1.0) if wanted else 0.0
    f1 = 2 * precision * recall / (precision + recall) if right and found else 0.0
    return SetScore(right == given and found == wanted, precision, recall, f1, given - right)
