"""The table of an audit, and the list of what is not right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from .outcome import Outcome, Verdict

MAX_REFUSED = 0.05
"""Most questions, as a share, that a store may refuse."""

_LONG = 700


def table(outcomes: Mapping[tuple[str, str], Sequence[Outcome]]) -> Iterator[str]:
    """One line for each graph and store."""
    yield f"{'graph':<20}{'store':<18}{'questions':>10}{'right':>8}{'wrong':>8}{'refused':>9}{'not judged':>12}"
    yield from rows(outcomes)


def rows(outcomes: Mapping[tuple[str, str], Sequence[Outcome]]) -> Iterator[str]:
    """The lines of the table without its heading."""
    for (graph, store), each in outcomes.items():
        verdicts = Counter(outcome.verdict for outcome in each)
        right, wrong, refused, unjudged = (verdicts[one] for one in Verdict)
        line = f"{graph:<20}{store:<18}{len(each):>10}{right:>8}{wrong:>8}{refused:>9}{unjudged:>12}"
        yield line + ("  too many refused" if _refused_too_often(each) else "")


def kinds(outcomes: Mapping[tuple[str, str], Sequence[Outcome]]) -> Iterator[str]:
    """One line for each kind of question that is not always answered right."""
    for (graph, store), each in outcomes.items():
        all_of, wrong = (
            Counter(o.question.kind for o in each),
            Counter(o.question.kind for o in each if o.verdict is Verdict.WRONG),
        )
        if wrong:
            yield f"{graph} on {store}, wrong: " + ", ".join(f"{k} {n} of {all_of[k]}" for k, n in wrong.most_common())


def details(outcomes: Mapping[tuple[str, str], Sequence[Outcome]]) -> Iterator[str]:
    """Each wrong answer with its question, and the refusals and what was not judged by their reasons."""
    for (graph, store), each in outcomes.items():
        for outcome in each:
            if outcome.verdict is Verdict.WRONG:
                yield f"\nWRONG {graph} on {store}, {outcome.question.kind}: {outcome.call[:_LONG]}"
                yield f"  expected: {outcome.expected[:_LONG]}"
                yield f"  answered: {outcome.answered[:_LONG]}"
        for verdict in (Verdict.REFUSED, Verdict.NOT_JUDGED):
            some = [outcome for outcome in each if outcome.verdict is verdict]
            for reason, number in Counter(map(_reason, some)).most_common():
                example = next(outcome.call[:_LONG] for outcome in some if _reason(outcome) == reason)
                yield f"\n{verdict.upper()} {graph} on {store}, {number} times: {reason}\n  for example: {example}"


def failed(outcomes: Mapping[tuple[str, str], Sequence[Outcome]]) -> bool:
    """Whether any answer is wrong, or too many questions were refused, or none of a graph on a store was judged."""
    return not any(map(_judged, outcomes.values())) or any(
        (each and not _judged(each))
        or _refused_too_often(each)
        or any(outcome.verdict is Verdict.WRONG for outcome in each)
        for each in outcomes.values()
    )


def _judged(outcomes: Sequence[Outcome]) -> Sequence[Outcome]:
    return [outcome for outcome in outcomes if outcome.verdict is not Verdict.NOT_JUDGED]


def _refused_too_often(outcomes: Sequence[Outcome]) -> bool:
    refused = sum(outcome.verdict is Verdict.REFUSED for outcome in outcomes)
    return refused > max(1, MAX_REFUSED * len(_judged(outcomes)))


def _reason(outcome: Outcome) -> str:
    lines = [line for line in outcome.answered.splitlines() if line.strip()]
    return " ".join(lines[:2])[:240]
