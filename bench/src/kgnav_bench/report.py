"""Formats figures for reports: medians, 95th percentiles and verdicts, in markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil
from statistics import median


def p95(values: Sequence[float]) -> float:
    """The 95th percentile of the values (nearest rank)."""
    return sorted(values)[ceil(0.95 * len(values)) - 1]


def milliseconds(seconds: float) -> str:
    """A duration in milliseconds, rounded to significant digits."""
    value = seconds * 1000
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.3f}"


def timing(seconds: Sequence[float]) -> tuple[str, str]:
    """Median and 95th percentile of durations, as two cells."""
    return milliseconds(median(seconds)), milliseconds(p95(seconds))


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A markdown table."""
    lines = [columns, ["---"] * len(columns), *([str(value) for value in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def verdict(passed: bool, sentence: str) -> str:
    """One line that says whether a target is met: PASS or FAIL, and a sentence."""
    return f"{'PASS' if passed else 'FAIL'}: {sentence}"


def share(part: int, whole: int) -> str:
    """A share such as `12 of 12 (100 %)`, never rounded up to 100."""
    percent = 100 * part / whole if whole else 100.0
    shown = "100" if part == whole else f"{min(percent, 99.999):.3f}"
    return f"{part:,} of {whole:,} ({shown} %)"
