"""Calls and observation tokens of the same questions asked by one plan, by walking, and in a raw query language."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean

from kgnav_bench import baselines, report
from kgnav_bench.metaqa import Question
from kgnav_bench.reach import by_hops, chosen, planning, replaying
from kgnav_bench.replay import COUNTERS, Result
from kgnav_bench.runs import Run

CALLS = 2.0
"""Maximum number of calls per question with plans."""
OF_WALKING = 0.2
"""Maximum number of tokens with plans, relative to walking."""
RAW = ("JSON rows", "SPARQL's JSON")
"""The formats of raw answers: the smallest JSON of a store's driver, and that of a SPARQL endpoint."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One question, asked by a plan and by walking."""

    planned: Result
    walked: Result

    @property
    def raw(self) -> Sequence[Sequence[int]]:
        """For each format in `RAW`, the number of tokens by each counter."""
        answers = sorted(self.planned.question.answers)
        rows = json.dumps([{"id": answer} for answer in answers], ensure_ascii=False, separators=(",", ":"))
        documents = rows, baselines.sparql_json(("value",), [(answer,) for answer in answers])
        return [[count(document) for document in documents] for count in COUNTERS.values()]


@contextmanager
def _both(folder: Path) -> Generator[Sequence[Callable[[Question], Compared]]]:
    """A function that asks a question by a plan and by walking."""
    with planning(folder) as plans, replaying(folder) as walks:
        yield [lambda question: Compared(plans.question(question), walks.question(question))]


def run(record: Run, folder: Path, size: int | None) -> str:
    """Ask all questions of one, two and three hops, or a fixed sample of them. Returns the report."""
    asked = chosen(folder, size)
    everything = record.measured("questions", Compared, asked, partial(_both, folder))
    groups = by_hops(asked.values(), everything)
    wrong = [each for each in everything if each.planned.missing_answers or each.planned.surplus_answers]
    calls = mean(each.planned.calls for each in everything)
    lines = [
        report.verdict(not wrong, f"{len(everything) - len(wrong):,} of {len(everything):,} answered exactly by plans"),
        report.verdict(calls <= CALLS, f"{calls:.2f} calls a question by plans (at most {CALLS:g})"),
    ]
    for number, counter in enumerate(COUNTERS):
        table = [(hops, *_row(group, number)) for hops, group in (*groups.items(), ("all", everything))]
        columns = ("hops", "questions", "calls by plans", "calls by walking", "tokens by plans", "by walking", *RAW)
        lines += ["", f"Means a question; tokens counted with {counter}:", "", report.table(columns, table), ""]
        lines += _verdicts(everything, number)
    return "\n".join(lines)


def _row(group: Sequence[Compared], counter: int) -> Iterable[str]:
    yield f"{len(group):,}"
    yield f"{mean(each.planned.calls for each in group):.2f}"
    yield f"{mean(each.walked.calls for each in group):.1f}"
    yield from (f"{value:,.0f}" for value in _tokens(group, counter).values())


def _tokens(group: Sequence[Compared], counter: int) -> Mapping[str, float]:
    """Mean tokens per question, by way of asking."""
    raw = [each.raw[counter] for each in group]
    return {
        "plans": mean(each.planned.tokens[counter] for each in group),
        "walking": mean(each.walked.tokens[counter] for each in group),
        **{name: mean(each[place] for each in raw) for place, name in enumerate(RAW)},
    }


def _verdicts(everything: Sequence[Compared], counter: int) -> Iterable[str]:
    tokens = _tokens(everything, counter)
    share = tokens["plans"] / tokens["walking"]
    yield report.verdict(share <= OF_WALKING, f"{share:.3f} of the tokens of walking (at most {OF_WALKING:g})")
    for name in RAW:
        share = tokens["plans"] / tokens[name]
        yield report.verdict(share < 1, f"{share:.3f} of the tokens of {name} (less than 1)")
