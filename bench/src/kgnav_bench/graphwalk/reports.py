"""Reports a run in the columns of GraphWalk's tables 2 and 3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median

from kgnav_bench import report
from kgnav_bench.graphwalk.benchmark import Result, Settings
from kgnav_bench.graphwalk.templates import TEMPLATES

_SHOWN = 10
"""Wrong answers that are shown."""


def write_report(settings: Settings, arm: str, results: Mapping[str, Sequence[Result]]) -> str:
    """The report in markdown, from the results by store. It ends with PASS if every answer is correct."""
    return "\n".join(_lines(settings, arm, results))


def _lines(settings: Settings, arm: str, results: Mapping[str, Sequence[Result]]) -> Iterator[str]:
    shape, seeds = settings.shape, settings.seeds
    yield f"GraphWalk's templates, arm {arm}"
    yield ""
    yield (
        f"{settings.graphs} graphs (seeds {seeds[0]} to {seeds[-1]}): {shape.nodes:,} nodes, {shape.node_classes} node "
        f"classes, {shape.relationship_classes} relationship classes with {shape.class_pairs} pairs of classes each, "
        f"density {shape.density:.4g}, {shape.node_properties} and {shape.relationship_properties} properties on "
        f"average, {shape.values} values each."
    )
    confirmed = ", confirmed by Cypher on Neo4j." if settings.neo4j_url else "; no Neo4j confirmed them."
    yield f"True answers: an evaluator in Python{confirmed}"
    yield ""
    yield report.table(
        ("store", "correct", "accuracy", "precision", "recall", "F1", "false positives", "tool calls"),
        ((store, *_scores(own)) for store, own in results.items()),
    )
    yield ""
    columns = [name for store in results for name in (f"correct, {store}", "tool calls, median", "ms, median")]
    yield report.table(
        ("template", "rows, median", *columns),
        (_template_row(template.name, results) for template in TEMPLATES),
    )
    yield ""
    wrong = [(store, each) for store, own in results.items() for each in own if not each.score.correct]
    for store, each in wrong[:_SHOWN]:
        yield f"- {store}: `{each.cypher}`: {each.fault or each.output[:200]}"
    total = sum(map(len, results.values()))
    right = total - len(wrong)
    yield report.verdict(right == total, f"{right} of {total} questions are answered correctly")


def _scores(results: Sequence[Result]) -> Sequence[object]:
    scores = [each.score for each in results]
    correct = sum(each.correct for each in scores)
    return (
        f"{correct} of {len(scores)}",
        f"{100 * correct / len(scores):.2f}",
        f"{fmean(each.precision for each in scores):.2f}",
        f"{fmean(each.recall for each in scores):.2f}",
        f"{fmean(each.f1 for each in scores):.2f}",
        sum(each.false_positives for each in scores),
        sum(each.tool_calls for each in results),
    )


def _template_row(name: str, results: Mapping[str, Sequence[Result]]) -> Sequence[object]:
    by_store = [[each for each in own if each.template == name] for own in results.values()]
    cells: list[object] = [name, f"{median(each.accepted for each in by_store[0]):,.0f}"]
    for own in by_store:
        cells += (
            sum(each.score.correct for each in own),
            f"{median(each.tool_calls for each in own):,.0f}",
            report.milliseconds(median(each.seconds for each in own)),
        )
    return cells
