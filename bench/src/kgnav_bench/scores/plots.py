"""Plots of a scoring: accuracy by arm, accuracy against tokens, accuracy by kind of question.

The same summary gives the same SVG, byte by byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from kgnav_bench.scores.intervals import Interval
from kgnav_bench.scores.summary import Contender, Summary

Axes = Any
"""matplotlib's class. The types of its methods are partly unknown, and it may not be installed."""
Figure = Any

ACCURACY, TOKENS, KINDS = "accuracy.svg", "accuracy-by-tokens.svg", "accuracy-by-kind.svg"
PICTURES: Final = (ACCURACY, TOKENS, KINDS)

_COLORS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#8c564b")
"""Okabe and Ito's, which most colour-blind readers can tell apart; grey and brown where black intervals are seen."""
_MARKERS: Final = "osD^vP*X"
_WIDTH: Final = 8.0
"""Inches."""
_LONGEST_LABEL: Final = 40


class PlotsMissingError(Exception):
    """matplotlib is not installed. The message names the extra that installs it."""


def write_plots(summary: Summary, folder: Path) -> list[str]:
    """Write the plots to a folder and return their names.

    The plot by kind is omitted if all questions are of one kind, that of tokens if the endpoints counted none.

    Raises:
        PlotsMissingError: matplotlib is not installed.
    """
    try:
        mpl: Any = import_module("matplotlib")
    except ImportError as error:
        raise PlotsMissingError(
            'plots need matplotlib, which the extra `plots` installs: `pip install "./bench[plots]"` in the clone of '
            "the repository. Without them: --no-plots."
        ) from error
    written: list[str] = []
    # The salt replaces random ids of clip paths; 11 points are readable where a page shows the picture at full width.
    with mpl.rc_context({"svg.hashsalt": "kgnav-bench", "font.size": 11, "axes.axisbelow": True}):
        for name, figure in _figures(summary):
            figure.savefig(folder / name, metadata={"Date": None}, bbox_inches="tight")
            written.append(name)
    return written


def _figures(summary: Summary) -> Iterable[tuple[str, Figure]]:
    yield ACCURACY, _by_arm(summary.contenders)
    if any(_tokens(each) for each in summary.contenders):
        yield TOKENS, _by_tokens(summary.contenders)
    kinds = sorted({kind for each in summary.contenders for kind in each.kinds})
    if len(kinds) > 1:
        yield KINDS, _by_kind(summary.contenders, kinds)


def _new_figure(height: float) -> tuple[Figure, Axes]:
    figure: Figure = import_module("matplotlib.figure").Figure(figsize=(_WIDTH, height), layout="constrained")
    axes: Axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _by_arm(contenders: Sequence[Contender]) -> Figure:
    figure, axes = _new_figure(1.2 + 0.45 * len(contenders))
    for place, each in enumerate(contenders):
        _bar(axes, place, each.total.measures["accuracy"], _COLORS[0], 0.6)
    _label_rows(axes, _names(contenders))
    return figure


def _by_tokens(contenders: Sequence[Contender]) -> Figure:
    figure, axes = _new_figure(4.5)
    for place, (each, name) in enumerate(zip(contenders, _names(contenders), strict=True)):
        accuracy = each.total.measures["accuracy"]
        axes.errorbar(
            [_tokens(each)],
            [100 * accuracy.mean],
            yerr=_errors(accuracy),
            fmt=_MARKERS[(place + place // len(_COLORS)) % len(_MARKERS)],
            color=_COLORS[place % len(_COLORS)],
            markersize=7,
            capsize=4,
            label=_short(name),
        )
    axes.set_ylim(0, 105)
    axes.set_xlim(left=0)
    axes.set_xlabel("prompt and completion tokens of an attempt, mean")
    axes.set_ylabel("accuracy, %")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.grid(color="#dddddd")
    _legend(figure, len(contenders))
    return figure


def _by_kind(contenders: Sequence[Contender], kinds: Sequence[str]) -> Figure:
    figure, axes = _new_figure(1.4 + len(kinds) * (0.25 + 0.25 * len(contenders)))
    height = 0.8 / len(contenders)
    for number, (each, name) in enumerate(zip(contenders, _names(contenders), strict=True)):
        color = _COLORS[number % len(_COLORS)]
        axes.barh([-1], [0], color=color, label=_short(name))
        for place, kind in enumerate(kinds):
            if kind in each.kinds:
                offset = (number - (len(contenders) - 1) / 2) * height
                _bar(axes, place + offset, each.kinds[kind].measures["accuracy"], color, 0.9 * height)
    _label_rows(axes, [kind or "(none)" for kind in kinds])
    if len(contenders) > 1:
        _legend(figure, len(contenders))
    return figure


def _bar(axes: Axes, place: float, interval: Interval, color: str, height: float) -> None:
    """A horizontal bar with its interval, and its value at the right of both."""
    axes.barh([place], [100 * interval.mean], height, color=color)
    axes.errorbar([100 * interval.mean], [place], xerr=_errors(interval), color="black", capsize=3, linewidth=1)
    axes.annotate(
        f"{100 * interval.mean:.1f}",
        (100 * max(interval.high, interval.mean), place),
        xytext=(6, 0),
        textcoords="offset points",
        va="center",
    )


def _label_rows(axes: Axes, labels: Sequence[str]) -> None:
    axes.set_yticks(range(len(labels)), [_short(label) for label in labels])
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_xlim(0, 110)
    axes.set_xticks(range(0, 101, 20))
    axes.set_xlabel("accuracy with its 95 % interval, %")
    axes.grid(axis="x", color="#dddddd")


def _legend(figure: Figure, entries: int) -> None:
    figure.legend(loc="outside upper center", ncols=min(entries, 2), frameon=False)


def _errors(interval: Interval) -> list[list[float]]:
    return [[100 * (interval.mean - interval.low)], [100 * (interval.high - interval.mean)]]


def _tokens(contender: Contender) -> float:
    costs = contender.total.costs
    return costs["prompt_tokens"].mean + costs["completion_tokens"].mean


def _names(contenders: Sequence[Contender]) -> list[str]:
    """What tells the contenders apart: the arms of one model, the models of one arm, or both."""
    if len({each.model for each in contenders}) == 1:
        return [each.arm for each in contenders]
    return [each.model if len({each.arm for each in contenders}) == 1 else each.name for each in contenders]


def _short(text: str) -> str:
    """A label that fits, with its middle left out if it is long. A dollar sign would begin a formula."""
    half = _LONGEST_LABEL // 2
    shown = text if len(text) <= _LONGEST_LABEL else f"{text[:half]}…{text[-half + 1 :]}"
    return shown.replace("$", r"\$")
