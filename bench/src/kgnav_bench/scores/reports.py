"""The report of a scoring, in markdown tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kgnav_bench import report
from kgnav_bench.records import Outcome
from kgnav_bench.scores.intervals import Interval
from kgnav_bench.scores.summary import COMPARED, Comparison, Contender, Correct, Group, Spread, Summary

_NAMED: Final = 20
"""Missing questions that are named here. The summary names all."""
_LISTED: Final = 8
"""Kinds of failed calls that are listed here, the most frequent first."""
_SENSES: Final = {
    Correct.SET_MATCH: "all true answers are given and no other",
    Correct.HITS_AT_1: "the first given answer is true",
    Correct.EXACT_MATCH: "some given answer is true",
    Correct.JUDGE: "the judge says so",
}
_MEASURES: Final = {
    "accuracy": "accuracy",
    "set_match": "set match",
    "hits_at_1": "Hits@1",
    "exact_match": "EM",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "rouge_l": "ROUGE-L",
    "judged": "judge",
}
_COMPARED: Final = ("accuracy", "f1")
"""The measures by which arms are compared here. The summary has more."""
_SAME: Final = {sense: "judged" if sense is Correct.JUDGE else sense.value for sense in Correct}
_COSTS: Final = {
    "calls": "calls",
    "prompt_tokens": "prompt tokens",
    "completion_tokens": "completion tokens",
    "cached_tokens": "of them cached",
    "seconds": "seconds",
    "price": "US dollars",
}


def write_report(summary: Summary, pictures: Sequence[str] = ()) -> str:
    """The report of a summary. `pictures` are files beside it."""
    sections = (_head, _answers, _gaps, _outcomes, _repeats, _tools, _errors, _costs, _kinds, _comparisons, _judge)
    parts = ["\n".join(section(summary)) for section in sections]
    parts += [f"![{name.rpartition('.')[0]}]({name})" for name in pictures]
    return "\n\n".join(part for part in parts if part)


def _head(summary: Summary) -> Iterator[str]:
    attempted = f"{summary.attempted:,} of the {summary.questions:,} questions were attempted."
    yield "# Scores"
    yield ""
    yield (
        f"{attempted} An attempt is correct if {_SENSES[summary.correct]}. Figures are means over questions, of the "
        f"mean over a question's attempts; failed attempts count as wrong. Intervals are of 95 %, by bootstrap over "
        f"questions ({summary.resamples:,} resamples, seed {summary.seed})."
    )


def _answers(summary: Summary) -> Iterator[str]:
    # The sense of correct would be shown twice, as accuracy and by its own name.
    names = [
        name
        for name in _MEASURES
        if name != _SAME.get(summary.correct) and any(name in each.total.measures for each in summary.contenders)
    ]
    yield "## Answers"
    yield ""
    yield report.table(
        ("arm", "questions", "attempts", "failed", *(_with_unit(name) for name in names), "false positives"),
        (
            (
                _cell(each.name),
                f"{each.total.questions:,}",
                f"{each.total.attempts:,}",
                f"{each.total.outcomes.get(Outcome.FAILED, 0):,}",
                *(_measure(each.total, name) for name in names),
                f"{each.total.false_positives:,}",
            )
            for each in summary.contenders
        ),
    )


def _gaps(summary: Summary) -> Iterator[str]:
    for each in summary.contenders:
        for what, questions in (("has no attempt at", each.missing), ("has fewer repeats of", each.fewer_repeats)):
            if questions:
                more = f" and {len(questions) - _NAMED:,} more" if len(questions) > _NAMED else ""
                named = ", ".join(f"`{question}`" for question in questions[:_NAMED])
                yield f"- **{_cell(each.name)} {what} {len(questions):,} questions**: {named}{more}."


def _outcomes(summary: Summary) -> Iterator[str]:
    kinds = sorted({kind for each in summary.contenders for kind in each.total.outcomes})
    yield "## How attempts ended"
    yield ""
    yield report.table(
        ("arm", *kinds),
        ((_cell(each.name), *(f"{each.total.outcomes.get(k, 0):,}" for k in kinds)) for each in summary.contenders),
    )


def _repeats(summary: Summary) -> Iterator[str]:
    powers = sorted({k for each in summary.contenders for k in each.total.pass_at_k if k > 1})
    yield "## Answered and repeated"
    yield ""
    yield report.table(
        (
            *("arm", "answer rate %", "conditional accuracy %", "overall accuracy %", "deviation between repeats"),
            *("reliability (yes or no)", "agreement (other)", *(f"Pass@{k} %" for k in powers)),
        ),
        (
            (
                _cell(each.name),
                _percent(each.total.answer_rate),
                _percent(each.total.conditional_accuracy),
                _percent(each.total.measures["accuracy"].mean),
                _percent(each.total.accuracy_deviation, 2),
                _number(each.total.reliability),
                _number(each.total.agreement),
                *(_percent(each.total.pass_at_k.get(k)) for k in powers),
            )
            for each in summary.contenders
        ),
    )


def _tools(summary: Summary) -> Iterator[str]:
    yield "## What the tools showed"
    yield ""
    yield report.table(
        ("arm", "retrieval rate %", "all answers retrieved %", "attempts with a failed call", "recovery rate %"),
        (
            (
                _cell(each.name),
                _percent(each.total.retrieval_rate),
                _percent(each.total.full_retrieval_rate),
                f"{each.total.with_failed_calls:,}",
                _percent(each.total.recovery_rate),
            )
            for each in summary.contenders
        ),
    )
    for each in summary.contenders:
        if each.total.failed_calls:
            counts = [f"{_cell(kind)} {count:,}" for kind, count in each.total.failed_calls.items()]
            more = [f"{len(counts) - _LISTED:,} other kinds"] if len(counts) > _LISTED else []
            yield f"\nFailed calls of {_cell(each.name)}: {', '.join(counts[:_LISTED] + more)}."


def _errors(summary: Summary) -> Iterator[str]:
    kinds = list(dict.fromkeys(kind for each in summary.contenders for kind in each.total.error_kinds))
    if not kinds:
        return
    yield "## Kinds of errors, % of attempts"
    yield ""
    yield report.table(
        ("arm", *kinds),
        (
            (_cell(each.name), *(_percent(each.total.error_kinds.get(kind, 0.0), 2) for kind in kinds))
            for each in summary.contenders
        ),
    )


def _costs(summary: Summary) -> Iterator[str]:
    yield "## Cost of an attempt: mean / median / 95th percentile"
    yield ""
    names = [name for name in _COSTS if any(name in each.total.costs for each in summary.contenders)]
    yield report.table(
        ("arm", *(_COSTS[name] for name in names)),
        ((_cell(each.name), *(_spread(each.total, name) for name in names)) for each in summary.contenders),
    )


def _kinds(summary: Summary) -> Iterator[str]:
    kinds = sorted({kind for each in summary.contenders for kind in each.kinds})
    if len(kinds) < 2:
        return
    names = ("accuracy", "hits_at_1", "exact_match", "f1")
    yield "## By kind of question"
    yield ""
    yield report.table(
        ("kind", "arm", "questions", *(_with_unit(name) for name in names), "calls", "tokens"),
        (_kind_row(kind, each, names) for kind in kinds for each in summary.contenders if kind in each.kinds),
    )


def _kind_row(kind: str, contender: Contender, names: Sequence[str]) -> Sequence[object]:
    group = contender.kinds[kind]
    tokens = group.costs["prompt_tokens"].mean + group.costs["completion_tokens"].mean
    return (
        _cell(kind) or "(none)",
        _cell(contender.name),
        f"{group.questions:,}",
        *(_measure(group, name) for name in names),
        f"{group.costs['calls'].mean:,.1f}",
        f"{tokens:,.0f}",
    )


def _comparisons(summary: Summary) -> Iterator[str]:
    by_measure = [each for each in summary.comparisons if each.measure in _COMPARED]
    shown = [each for each in by_measure if _is_of_interest(each, summary)] or by_measure
    if not shown:
        return
    yield "## Arms compared on the same questions"
    yield ""
    yield report.table(
        ("first", "second", "measure", "questions", "first - second", "better", "worse", "p, sign test"),
        (
            (
                _cell(each.first),
                _cell(each.second),
                _MEASURES[each.measure],
                f"{each.questions:,}",
                _interval(each.difference, sign="+"),
                f"{each.wins:,}",
                f"{each.losses:,}",
                f"{each.p:.3f}" if each.p >= 0.001 else "< 0.001",
            )
            for each in shown
        ),
    )
    yield ""
    others = "" if len(shown) == len(summary.comparisons) else " All pairs and measures are in summary.json."
    yield (
        "Differences are in percent, with their 95 % interval by paired bootstrap. `p` is not corrected for several "
        f"tests.{others}"
    )


def _is_of_interest(comparison: Comparison, summary: Summary) -> bool:
    """Whether two contenders have the arm or the model in common; of two different ones the reason is unknown."""
    named = {each.name: each for each in summary.contenders}
    first, second = named[comparison.first], named[comparison.second]
    return first.arm == second.arm or first.model == second.model


def _judge(summary: Summary) -> Iterator[str]:
    if summary.judge is None:
        return
    use = summary.judge
    price = "" if use.price is None else f", {use.price:.4f} US dollars"
    yield "## Judge"
    yield ""
    yield (
        f"{_cell(use.model)}: {use.verdicts:,} verdicts, {use.unreadable:,} of them unreadable and counted as not "
        f"correct; {use.tokens.prompt:,} prompt and {use.tokens.completion:,} completion tokens, "
        f"{use.seconds:,.1f} s{price}."
    )


def _measure(group: Group, name: str) -> str:
    """A mean, with its interval if this is one of the measures that arms are compared by."""
    interval = group.measures.get(name)
    if interval is None:
        return "-"
    return _interval(interval) if name in COMPARED else _percent(interval.mean)


def _interval(interval: Interval, sign: str = "") -> str:
    mean, low, high = (format(100 * value, f"{sign}.1f") for value in (interval.mean, interval.low, interval.high))
    return f"{mean} [{low}, {high}]"


def _with_unit(name: str) -> str:
    return f"{_MEASURES[name]} %"


def _percent(value: float | None, digits: int = 1) -> str:
    return "-" if value is None else f"{100 * value:.{digits}f}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _spread(group: Group, name: str) -> str:
    spread: Spread | None = group.costs.get(name)
    if spread is None:
        return "-"
    digits = {"price": 4, "seconds": 1, "calls": 1}.get(name, 0)
    known = f" ({group.priced:,} known)" if name == "price" and group.priced < group.attempts else ""
    return " / ".join(f"{value:,.{digits}f}" for value in (spread.mean, spread.median, spread.p95)) + known


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
