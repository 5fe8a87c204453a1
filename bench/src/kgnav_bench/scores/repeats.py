"""Measures over several attempts at one question: Pass@k and the stability of the answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from math import comb, log2


def pass_at_k(attempts: int, correct: int, k: int) -> float:
    """The probability that at least one of k attempts, drawn without repetition, is correct (GraphWalker, 3.3).

    The unbiased estimator of Chen et al. 2021: 1 - C(n - c, k) / C(n, k).

    Raises:
        ValueError: there are fewer than k attempts.
    """
    if not 0 < k <= attempts:
        raise ValueError(f"Pass@{k} needs {k} attempts at a question, not {attempts}")
    return 1 - comb(attempts - correct, k) / comb(attempts, k)


def reliability(answers: Sequence[Hashable], classes: int) -> float:
    """1 minus the entropy of the answers, divided by the maximum entropy for this number of classes (ARK-V1, IV-B).

    It is 1 if all answers are equal, and 0 if they are spread evenly over all classes.

    Raises:
        ValueError: there are fewer than two classes, or no answers.
    """
    if classes < 2 or not answers:
        raise ValueError("reliability needs at least two classes and one answer")
    shares = [count / len(answers) for count in Counter(answers).values()]
    return 1 + sum(share * log2(share) for share in shares) / log2(classes)
