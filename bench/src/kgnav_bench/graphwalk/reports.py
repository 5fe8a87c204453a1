"""Reports a run in the columns of GraphWalk's tables 2 and 3."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean, median

from kgnav_bench import report
from kgnav_bench.graphwalk.runs import Record, Settings
from kgnav_bench.graphwalk.templates import TEMPLATES

_SHOWN = 10
"""Wrong answers that are shown."""


def write_report(settings: Settings, records: Sequence[Record]) -> str:
    """The report in markdown. It ends with PASS if every answer is correct."""
    return "\n".join(_lines(settings, records))


def _lines(settings: Settings, records: Sequence[Record]) -> Iterator[str]:
    shape = settings.shape
    yield f"# GraphWalk's templates, arm {settings.arm}"
    yield ""
    yield (
        f"{settings.graphs} graphs (seeds {settings.seed} to {settings.seed + settings.graphs - 1}): {shape.nodes:,} "
        f"nodes, {shape.node_classes} node classes, {shape.relationship_classes} relationship classes with "
        f"{shape.class_pairs} pairs of classes each, density {shape.density:.4g}, {shape.node_properties} and "
        f"{shape.relationship_properties} properties on average, {shape.values} values each."
    )
    yield "True answers: an evaluator in Python" + (
        ", confirmed by Cypher on Neo4j." if settings.neo4j else " (no Neo4j confirmed them)."
    )
    yield ""
    yield report.table(
        ("store", "correct", "accuracy", "precision", "recall", "F1", "false positives", "tool calls"),
        ((name, *_scores([each for each in records if each.store == name])) for name in settings.stores),
    )
    yield ""
    yield report.table(
        ("template", *settings.stores, "rows, median", "tool calls, median", "ms, median"),
        (_template_row(template.name, settings, records) for template in TEMPLATES),
    )
    yield ""
    wrong = [each for each in records if not each.score.correct]
    for each in wrong[:_SHOWN]:
        yield f"- graph {each.graph}, {each.store}: `{each.cypher}`: {each.fault or each.output[:200]}"
    expected = settings.graphs * len(TEMPLATES) * len(settings.stores)
    right = len(records) - len(wrong)
    yield report.verdict(right == expected, f"{right} of {expected} questions are answered correctly")


def _scores(records: Sequence[Record]) -> Sequence[object]:
    scores = [each.score for each in records]
    correct = sum(each.correct for each in scores)
    return (
        f"{correct} of {len(scores)}",
        f"{100 * correct / len(scores):.2f}",
        f"{fmean(each.precision for each in scores):.2f}",
        f"{fmean(each.recall for each in scores):.2f}",
        f"{fmean(each.f1 for each in scores):.2f}",
        sum(each.false_positives for each in scores),
        sum(each.tool_calls for each in records),
    )


def _template_row(name: str, settings: Settings, records: Sequence[Record]) -> Sequence[object]:
    own = [each for each in records if each.template == name]
    correct = (sum(each.score.correct for each in own if each.store == store) for store in settings.stores)
    return (
        name,
        *correct,
        f"{median(each.accepted for each in own):,.0f}",
        f"{median(each.tool_calls for each in own):,.0f}",
        report.milliseconds(median(each.seconds for each in own)),
    )
