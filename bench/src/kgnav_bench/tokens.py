"""Observation tokens per question, compared with SPARQL results in JSON and SoG's tables on the same replay."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from statistics import mean, median

from kgnav_bench import baselines, report
from kgnav_bench.metaqa import Neighbours, Question, Step, source_neighbours
from kgnav_bench.reach import by_hops, chosen, replaying
from kgnav_bench.replay import COUNTERS, Replay, Result, Seen
from kgnav_bench.runs import Run

P = 1000
"""Maximum number of rows of a neighbourhood that Search-on-Graph shows (p in the paper)."""

OF_JSON = 0.25
SOG_OF_JSON = 0.40
"""Search-on-Graph's tokens divided by those of its JSON variant: 3,716 / 9,312 per question."""

Sizes = tuple[int, ...]
"""Tokens of one observation in each of `FORMATS`, by the first counter, then by the second."""

FORMATS = (
    "SoG's tables",
    "JSON with bare ids, same rows",
    "JSON, same rows",
    f"JSON, whole neighbourhood, {P:,} rows at most",
)
_JUDGED = FORMATS[2:]


@dataclass(frozen=True, slots=True)
class Observed:
    """The tokens of one question: ours, and those of the other formats, by counter."""

    ours: Sequence[int]
    others: Sequence[int]


class Baselines:
    """The tokens that other formats need at each step of a replay."""

    def __init__(self, replay: Replay, truth: Neighbours) -> None:
        self._replay = replay
        self._truth = truth
        self._sizes: dict[tuple[str, Step], Sizes] = {}
        self._whole = cache(self._whole_neighbourhood)

    def observed(self, result: Result) -> Observed:
        """The tokens of one replayed question."""
        others = [0] * (len(FORMATS) * len(COUNTERS))
        for entity, step in result.followed:
            others = [a + b for a, b in zip(others, self._step(entity, step), strict=True)]
        return Observed(result.tokens, others)

    def _step(self, entity: str, step: Step) -> Sizes:
        key = (entity, step)
        if key not in self._sizes:
            seen = self._replay.follow(entity, step)
            documents = [*_same_rows(seen), [self._whole(entity, step.direction)]]
            self._sizes[key] = tuple(sum(map(count, group)) for count in COUNTERS.values() for group in documents)
        return self._sizes[key]

    def _whole_neighbourhood(self, entity: str, direction: str) -> str:
        around = self._truth[entity, direction]
        rows = [(relation, _label(relation), end, end) for relation, ends in around.items() for end in ends]
        return baselines.sparql_json(baselines.ROW, rows[:P])


def _label(relation: str) -> str:
    return relation.replace("_", " ")


def _same_rows(seen: Seen) -> tuple[list[str], list[str], list[str]]:
    """The rows of our answers as SoG's tables and as both kinds of JSON, where several pages are one document."""
    tables: list[str] = []
    bare: list[str] = []
    full: list[str] = []
    for columns, collapsed in ((baselines.PROPERTY, True), (baselines.ROW, False)):
        pages = [table for table in seen.tables if table.columns and ("value" not in table.columns) is collapsed]
        rows = [row for page in pages for row in zip(*(page.column(name) for name in columns), strict=True)]
        if rows:
            tables.append(baselines.sog_table(columns, rows))
            bare.append(baselines.sparql_json(columns, rows, namespace=""))
            full.append(baselines.sparql_json(columns, rows))
    return tables, bare, full


@contextmanager
def _comparing(folder: Path) -> Generator[Sequence[Callable[[Question], Observed]]]:
    """A function that replays a question and counts what other formats need."""
    with replaying(folder) as replay:
        compared = Baselines(replay, source_neighbours(folder))
        yield [lambda question: compared.observed(replay.question(question))]


def run(record: Run, folder: Path, size: int | None) -> str:
    """Replay one, two and three hops, and count tokens. Returns the report."""
    lines: list[str] = []
    asked = chosen(folder, size)
    everything = record.measured("questions", Observed, asked, partial(_comparing, folder))
    groups = by_hops(asked.values(), everything)
    for n, counter in enumerate(COUNTERS):
        lines += [
            f"Tokens counted with {counter}; means a question, ratios of means, median of the questions' own ratios:",
            "",
            report.table(
                ("hops", "ours", *(f"{name}: tokens, ratio, median ratio" for name in FORMATS)),
                [(hops, *_row(group, n)) for hops, group in (*groups.items(), ("all", everything))],
            ),
            "",
        ]
        lines += [*_verdicts(everything, n), ""]
    return "\n".join(lines)


def _row(group: Sequence[Observed], counter: int) -> Iterable[str]:
    ours = [observed.ours[counter] for observed in group]
    yield f"{mean(ours):,.0f}"
    for n in range(len(FORMATS)):
        theirs = [observed.others[counter * len(FORMATS) + n] for observed in group]
        ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
        yield f"{mean(theirs):,.0f}, {sum(ours) / sum(theirs):.3f}, {median(ratios):.3f}"


def _verdicts(everything: Sequence[Observed], counter: int) -> list[str]:
    ours = sum(observed.ours[counter] for observed in everything)
    verdicts: list[str] = []
    for name in _JUDGED:
        place = counter * len(FORMATS) + FORMATS.index(name)
        theirs = sum(observed.others[place] for observed in everything)
        ratio = ours / theirs
        sentence = f"{ratio:.3f} of {name} (at most {OF_JSON}; SoG's own {SOG_OF_JSON:.2f})"
        verdicts.append(report.verdict(ratio <= OF_JSON, sentence))
    return verdicts
