"""Replays the Wikidata questions through a server of a live endpoint, and reports on it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import mean, median

from kgnav_bench import report
from kgnav_bench.client import BareClient, server_command
from kgnav_bench.planned import PLANS
from kgnav_bench.runs import Run
from kgnav_bench.wikidata import GoldQuery, questions
from kgnav_bench.wikidata_plans import PlanWalker
from kgnav_bench.wikidata_walk import Walked, Walker

_SHOWN_FAILURES = 10


def endpoint_command(endpoint: str) -> list[str]:
    """The command that serves a SPARQL endpoint with Wikidata."""
    return [*server_command(None), "--graph", f"wikidata+{endpoint}"]


def sampled(asked: Sequence[GoldQuery], size: int | None) -> list[GoldQuery]:
    """A fixed sample of `size` questions, spread evenly over all of them; all questions for None."""
    return list(asked) if size is None else list(asked[:: max(len(asked) // size, 1)][:size])


@contextmanager
def _walking(folder: Path, endpoint: str, *, plans: bool) -> Generator[Sequence[Callable[[GoldQuery], Walked]]]:
    """A function that asks a question, by walking or by a plan."""
    with BareClient([*endpoint_command(endpoint), *(PLANS if plans else ())]) as client:
        yield [(PlanWalker(client) if plans else Walker(client, folder)).walk]


def run(record: Run, folder: Path, endpoint: str, size: int | None = None, *, plans: bool = False) -> str:
    """Replay all questions, or a sample of them. Returns the report."""
    asked = {str(n): question for n, question in enumerate(sampled(questions(folder), size), 1)}
    walked = record.measured("questions", Walked, asked, partial(_walking, folder, endpoint, plans=plans))
    made = sum(each.sent for each in walked)
    groups = {
        "without qualifiers": [each for each in walked if not each.qualified],
        "with qualifiers": [each for each in walked if each.qualified],
        "all": walked,
    }
    return "\n".join(
        (
            report.table(
                ("questions", "gold relations offered", "gold answers shown", "no other", "calls, median / mean"),
                [(f"{len(group):,} {name}", *_row(group)) for name, group in groups.items() if group],
            ),
            "",
            f"{made:,} calls were sent, in {record.seconds:.0f} s.",
            *_failures(walked),
            report.verdict(
                all(each.reached for each in walked), "every gold relation is offered and every gold answer shown"
            ),
        )
    )


def _row(group: Sequence[Walked]) -> tuple[str, ...]:
    calls = [each.calls for each in group]
    answers = sum(len(each.question.answers) for each in group)
    missing = sum(len(each.question.answers) if each.fault else len(each.missing) for each in group)
    return (
        report.share(sum(not each.not_offered and not each.fault for each in group), len(group)),
        report.share(answers - missing, answers),
        report.share(sum(not each.surplus for each in group), len(group)),
        f"{median(calls):.0f} / {mean(calls):.1f}",
    )


def _failures(walked: Sequence[Walked]) -> list[str]:
    failed = [each for each in walked if not each.reached or each.surplus]
    return [
        f"- {each.question.text!r}: {each.question.sparql!r}: "
        f"{each.fault or f'not offered {each.not_offered[:3]}, not shown {sorted(each.missing)[:5]}'}"
        f", surplus {sorted(each.surplus)[:5]}"
        for each in failed[:_SHOWN_FAILURES]
    ]
