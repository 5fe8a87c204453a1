"""Averages scores over repeats and questions, by arm and kind of question, and compares arms.

A figure is first averaged over the attempts at a question, then over the questions, so that a question with more
repeats weighs no more than another.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import combinations
from statistics import fmean, median, stdev

import numpy as np

from kgnav_bench import report
from kgnav_bench.records import AnswerKind, Record, Tokens
from kgnav_bench.scores.error_kinds import ErrorKind
from kgnav_bench.scores.intervals import Interval, Matrix, bootstrap, sign_test
from kgnav_bench.scores.repeats import pass_at_k, reliability
from kgnav_bench.scores.scoring import Scores, Verdict

RESAMPLES = 10_000
_BOOLEAN_CLASSES = 3
"""True, False and None (ARK-V1, IV-B)."""


class Correct(StrEnum):
    """The criterion for a correct attempt."""

    SET_MATCH = "set_match"
    """All true answers are given, and no other (GraphWalk)."""
    HITS_AT_1 = "hits_at_1"
    """The first answer is true (Search-on-Graph)."""
    EXACT_MATCH = "exact_match"
    """Any answer is true (GraphWalker)."""
    JUDGE = "judge"
    """A judge model says so (GraphRunner)."""


class Spread(Record):
    """Mean, median and 95th percentile (nearest rank) of a cost of attempts."""

    mean: float
    median: float
    p95: float


class Group(Record):
    """The figures of some attempts of one contender: all of them, or those at one kind of question."""

    questions: int
    attempts: int
    outcomes: dict[str, int]
    measures: dict[str, Interval]
    """Means over questions of accuracy, set_match, hits_at_1, exact_match, precision, recall, f1, rouge_l, judged."""
    false_positives: int
    """Number of false answers in all attempts (GraphWalk, table 2)."""
    answer_rate: float
    conditional_accuracy: float | None
    """Accuracy of the attempts with a definite answer; None if there are none."""
    accuracy_deviation: float | None
    """Standard deviation of the accuracy between repeats; None with one repeat, or if their number varies."""
    reliability: float | None
    """Mean over the yes-or-no questions with repeats, with ARK-V1's three classes."""
    agreement: float | None
    """As `reliability` for the other questions, with as many classes as a question has attempts. It is in no paper."""
    pass_at_k: dict[int, float]
    """Pass@k for powers of two up to the smallest number of attempts at a question."""
    retrieval_rate: float | None
    """Share of the attempts in which a tool showed a true answer; None if no question has answers that can be shown."""
    full_retrieval_rate: float | None
    """Share of the attempts in which tools showed all true answers."""
    with_failed_calls: int
    recovery_rate: float | None
    """Of the attempts with a failed call, the share of those with a later successful call that are correct."""
    error_kinds: dict[str, float]
    """Mean over questions of the share of attempts that are not correct, by kind of error."""
    failed_calls: dict[str, int]
    unreadable_verdicts: int
    priced: int
    """Number of attempts whose price is known. The price in `costs` is that of these attempts."""
    costs: dict[str, Spread]
    """An attempt's calls, prompt, completion and cached tokens, seconds and price in US dollars."""


class Contender(Record):
    """An arm with a model."""

    arm: str
    model: str
    total: Group
    kinds: dict[str, Group]
    missing: tuple[str, ...] = ()
    """Questions that another contender attempted and this one did not."""
    fewer_repeats: tuple[str, ...] = ()
    """Questions with fewer attempts than this contender's most repeated one."""

    @property
    def name(self) -> str:
        """Arm and model as one text."""
        return f"{self.arm} ({self.model})" if self.model else self.arm


class Comparison(Record):
    """Two contenders on the questions that both attempted."""

    first: str
    second: str
    measure: str
    questions: int
    difference: Interval
    """Mean of the first minus the second."""
    wins: int
    """Questions on which the first is better."""
    losses: int
    p: float
    """The p value of the sign test."""


class JudgeUse(Record):
    """The total cost of the judge."""

    model: str
    verdicts: int
    unreadable: int
    tokens: Tokens
    seconds: float
    price: float | None = None


class Summary(Record):
    """All figures of a scoring."""

    correct: Correct
    resamples: int
    seed: int
    questions: int
    """Number of questions in the data."""
    attempted: int
    """Number of questions that at least one contender attempted."""
    contenders: tuple[Contender, ...]
    comparisons: tuple[Comparison, ...]
    judge: JudgeUse | None = None


def is_correct(scores: Scores, correct: Correct) -> bool:
    """Whether an attempt is correct by this criterion. Without a judge's verdict, `JUDGE` is never met."""
    if correct is Correct.JUDGE:
        return scores.judged is Verdict.CORRECT
    return bool(getattr(scores, correct.value))


_MEASURES: Mapping[str, Callable[[Scores], float]] = {
    "set_match": lambda each: each.set_match,
    "hits_at_1": lambda each: each.hits_at_1,
    "exact_match": lambda each: each.exact_match,
    "precision": lambda each: each.precision,
    "recall": lambda each: each.recall,
    "f1": lambda each: each.f1,
    "rouge_l": lambda each: each.rouge_l,
}
COMPARED = ("accuracy", "hits_at_1", "exact_match", "f1")
"""Measures by which contenders are compared."""
_COSTS: Mapping[str, Callable[[Scores], float]] = {
    "calls": lambda each: each.calls,
    "prompt_tokens": lambda each: each.tokens.prompt,
    "completion_tokens": lambda each: each.tokens.completion,
    "cached_tokens": lambda each: each.tokens.cached,
    "seconds": lambda each: each.seconds,
}

ByQuestion = Mapping[str, Sequence[Scores]]


class Summarizer:
    """Averages scores, with one criterion and one seed."""

    def __init__(self, correct: Correct = Correct.SET_MATCH, resamples: int = RESAMPLES, seed: int = 0) -> None:
        self.correct = correct
        self.resamples = resamples
        self.seed = seed

    def group(self, scores: Sequence[Scores]) -> Group:
        """The figures of some attempts of one contender."""
        questions = _by_question(scores)
        measures = self._measures(scores)
        values = np.array([self._row(own, measures) for own in questions.values()])
        intervals = bootstrap(values, self.resamples, self.seed)
        definite = [each for each in scores if each.definite]
        shown = [each.shown for each in scores if each.shown is not None]
        failed = [each for each in scores if each.corrected is not None]
        prices = [each.price for each in scores if each.price is not None]
        costs = {name: _spread([cost(each) for each in scores]) for name, cost in _COSTS.items()}
        return Group(
            questions=len(questions),
            attempts=len(scores),
            outcomes=dict(sorted(Counter(each.outcome.value for each in scores).items())),
            measures=dict(zip(measures, intervals, strict=True)),
            false_positives=sum(each.false_positives for each in scores),
            answer_rate=_mean_of_means(questions, lambda each: each.definite),
            conditional_accuracy=fmean(map(self._is_correct, definite)) if definite else None,
            accuracy_deviation=self._deviation(questions),
            reliability=_reliability(questions),
            agreement=_agreement(questions),
            pass_at_k=self._pass_at_k(questions),
            retrieval_rate=fmean(share > 0 for share in shown) if shown else None,
            full_retrieval_rate=fmean(share == 1 for share in shown) if shown else None,
            with_failed_calls=len(failed),
            recovery_rate=fmean(bool(each.corrected) and self._is_correct(each) for each in failed) if failed else None,
            error_kinds=self._error_kinds(questions),
            failed_calls=dict(sum((Counter(each.failed_calls) for each in scores), Counter[str]()).most_common()),
            unreadable_verdicts=sum(each.judged is Verdict.UNREADABLE for each in scores),
            priced=len(prices),
            costs=costs | ({"price": _spread(prices)} if prices else {}),
        )

    def compare(
        self, first: Contender, second: Contender, ours: ByQuestion, theirs: ByQuestion
    ) -> Iterator[Comparison]:
        """The comparisons by each measure, on the questions that both attempted."""
        common = [question for question in ours if question in theirs]
        if not common:
            return
        measures = {"accuracy": self._is_correct, **{name: _MEASURES[name] for name in COMPARED[1:]}}
        differences: Matrix = np.array(
            [
                np.subtract(self._row(ours[question], measures), self._row(theirs[question], measures))
                for question in common
            ]
        )
        intervals = bootstrap(differences, self.resamples, self.seed)
        for place, (measure, interval) in enumerate(zip(measures, intervals, strict=True)):
            wins, losses, p = sign_test(round(float(each), 12) for each in differences[:, place])
            yield Comparison(
                first=first.name,
                second=second.name,
                measure=measure,
                questions=len(common),
                difference=interval,
                wins=wins,
                losses=losses,
                p=p,
            )

    def _is_correct(self, scores: Scores) -> bool:
        return is_correct(scores, self.correct)

    def _measures(self, scores: Sequence[Scores]) -> Mapping[str, Callable[[Scores], float]]:
        measures: dict[str, Callable[[Scores], float]] = {"accuracy": self._is_correct, **_MEASURES}
        if all(each.judged is not None for each in scores):
            measures["judged"] = lambda each: each.judged is Verdict.CORRECT
        return measures

    @staticmethod
    def _row(attempts: Sequence[Scores], measures: Mapping[str, Callable[[Scores], float]]) -> list[float]:
        return [fmean(map(measure, attempts)) for measure in measures.values()]

    def _deviation(self, questions: ByQuestion) -> float | None:
        """Standard deviation of the accuracy of one repeat after another (ARK-V1, table III)."""
        repeats: dict[int, list[bool]] = defaultdict(list)
        for attempts in questions.values():
            for each in attempts:
                repeats[each.repeat].append(self._is_correct(each))
        if len(repeats) < 2 or any(len(own) != len(questions) for own in repeats.values()):
            return None
        return stdev(map(fmean, repeats.values()))

    def _pass_at_k(self, questions: ByQuestion) -> dict[int, float]:
        counts = [(len(own), sum(map(self._is_correct, own))) for own in questions.values()]
        smallest = min(number for number, _ in counts)
        powers = [1 << power for power in range(smallest.bit_length())]
        return {k: fmean(pass_at_k(number, correct, k) for number, correct in counts) for k in powers}

    def _error_kinds(self, questions: ByQuestion) -> dict[str, float]:
        shares: dict[str, float] = {}
        for kind in ErrorKind:
            share = _mean_of_means(
                questions, lambda each, kind=kind: each.error_kind is kind and not self._is_correct(each)
            )
            if share:
                shares[kind.value] = share
        return shares


def summarize(
    scores: Iterable[Scores],
    *,
    correct: Correct = Correct.SET_MATCH,
    questions: int = 0,
    resamples: int = RESAMPLES,
    seed: int = 0,
    judge: JudgeUse | None = None,
) -> Summary:
    """All figures of the scores, by contender and kind of question, and each two contenders compared.

    `questions` is the number of questions in the data, if it has more than were attempted.
    """
    summarizer = Summarizer(correct, resamples, seed)
    attempts: dict[tuple[str, str], list[Scores]] = defaultdict(list)
    for each in scores:
        attempts[each.arm, each.model].append(each)
    attempted = {each.question: None for own in attempts.values() for each in own}
    by_question = {name: _by_question(own) for name, own in attempts.items()}
    contenders = {name: _contender(summarizer, own, by_question[name], attempted) for name, own in attempts.items()}
    comparisons = tuple(
        comparison
        for first, second in combinations(contenders, 2)
        for comparison in summarizer.compare(
            contenders[first], contenders[second], by_question[first], by_question[second]
        )
    )
    return Summary(
        correct=correct,
        resamples=resamples,
        seed=seed,
        questions=max(questions, len(attempted)),
        attempted=len(attempted),
        contenders=tuple(contenders.values()),
        comparisons=comparisons,
        judge=judge,
    )


def _contender(
    summarizer: Summarizer, scores: Sequence[Scores], questions: ByQuestion, attempted: Iterable[str]
) -> Contender:
    kinds: dict[str, list[Scores]] = defaultdict(list)
    for each in scores:
        kinds[each.kind].append(each)
    most = max(map(len, questions.values()))
    return Contender(
        arm=scores[0].arm,
        model=scores[0].model,
        total=summarizer.group(scores),
        kinds={kind: summarizer.group(own) for kind, own in sorted(kinds.items())},
        missing=tuple(question for question in attempted if question not in questions),
        fewer_repeats=tuple(question for question, own in questions.items() if len(own) < most),
    )


def _by_question(scores: Iterable[Scores]) -> dict[str, list[Scores]]:
    questions: dict[str, list[Scores]] = defaultdict(list)
    for each in scores:
        questions[each.question].append(each)
    return dict(questions)


def _mean_of_means(questions: ByQuestion, measure: Callable[[Scores], float]) -> float:
    return fmean(fmean(map(measure, own)) for own in questions.values())


def _spread(values: Sequence[float]) -> Spread:
    return Spread(mean=fmean(values), median=median(values), p95=report.p95(values))


def _reliability(questions: ByQuestion) -> float | None:
    """Every answer but True and False is None: to abstain, and to say something else."""
    repeated = [own for own in questions.values() if len(own) > 1 and own[0].answer_kind is AnswerKind.BOOLEAN]
    if not repeated:
        return None
    return fmean(
        reliability([each.answer if each.answer in {("True",), ("False",)} else None for each in own], _BOOLEAN_CLASSES)
        for own in repeated
    )


def _agreement(questions: ByQuestion) -> float | None:
    repeated = [own for own in questions.values() if len(own) > 1 and own[0].answer_kind is not AnswerKind.BOOLEAN]
    if not repeated:
        return None
    return fmean(reliability([each.answer if each.definite else None for each in own], len(own)) for own in repeated)
