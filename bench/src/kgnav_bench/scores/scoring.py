"""Scores one attempt at a question."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from kgnav_bench.records import AnswerKind, Attempt, Outcome, Question, Record, Tokens
from kgnav_bench.scores.error_kinds import ErrorKind, error_kind
from kgnav_bench.scores.matching import match_answers
from kgnav_bench.scores.observations import calls, corrected, failures, shown_share
from kgnav_bench.scores.rouge import rouge_l


class Verdict(StrEnum):
    """A judge model's verdict on an answer."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    UNREADABLE = "unreadable"
    """The judge's reply has no verdict in the required form. It counts as not correct."""


class Scores(Record):
    """The scores of one attempt. Without an answer all are 0, unless the question has no answer either."""

    question: str
    arm: str
    model: str = ""
    repeat: int = 0
    kind: str = ""
    answer_kind: AnswerKind = AnswerKind.ENTITIES
    outcome: Outcome
    set_match: bool
    """Whether all true answers are given, and no other."""
    hits_at_1: bool
    """Whether the first answer is true."""
    exact_match: bool
    """Whether any answer is true."""
    precision: float
    recall: float
    f1: float
    false_positives: int
    rouge_l: float
    judged: Verdict | None = None
    error_kind: ErrorKind | None = None
    shown: float | None = None
    """The share of the true answers that a call showed; None if it is not defined."""
    corrected: bool | None = None
    """Whether a call succeeded after one that failed; None if none failed."""
    answer: tuple[str, ...] = ()
    """The normalized answers, sorted, for comparing repeats. Empty if there is no definite answer."""
    calls: int = 0
    failed_calls: dict[str, int] = Field(default_factory=dict[str, int])
    """Number of failed calls by the first words of their errors."""
    tokens: Tokens = Tokens()
    seconds: float = 0.0
    price: float | None = None

    @property
    def definite(self) -> bool:
        """Whether the attempt ended with an answer (ARK-V1, IV-B)."""
        return self.outcome is Outcome.ANSWERED


def given_answers(attempt: Attempt) -> tuple[str, ...]:
    """The non-blank answers of an attempt that ended with an answer. Other attempts have none."""
    return tuple(text for text in attempt.answers if text.strip()) if attempt.outcome is Outcome.ANSWERED else ()


def score_attempt(question: Question, attempt: Attempt) -> Scores:
    """Compare an attempt with the truth.

    Raises:
        ValueError: the attempt is at another question.
    """
    if attempt.question != question.id:
        raise ValueError(f"the attempt is at question {attempt.question!r}, not at {question.id!r}")
    answers = given_answers(attempt)
    match = match_answers(question, answers)
    readable = attempt.outcome in {Outcome.ANSWERED, Outcome.ABSTAINED}
    score = match.score
    return Scores(
        question=question.id,
        arm=attempt.arm,
        model=attempt.model,
        repeat=attempt.repeat,
        kind=question.kind,
        answer_kind=question.answer_kind,
        outcome=attempt.outcome,
        set_match=readable and score.correct,
        hits_at_1=readable and match.hits_at_1,
        exact_match=readable and match.exact_match,
        precision=score.precision if readable else 0.0,
        recall=score.recall if readable else 0.0,
        f1=score.f1 if readable else 0.0,
        false_positives=score.false_positives,
        rouge_l=_rouge_l(question, answers) if readable else 0.0,
        error_kind=error_kind(question, attempt, match),
        shown=shown_share(attempt, question.answers, question.answer_kind),
        corrected=corrected(attempt),
        answer=tuple(sorted(match.values)),
        calls=sum(1 for _ in calls(attempt)),
        failed_calls=failures(attempt),
        tokens=_total(attempt),
        seconds=attempt.seconds,
        price=attempt.price,
    )


def _rouge_l(question: Question, answers: tuple[str, ...]) -> float:
    """ROUGE-L of the answers as one text; against the best of a text's names, or the usual names of all answers."""
    text = ", ".join(answers)
    if question.answer_kind is AnswerKind.TEXT and question.answers:
        return max(rouge_l(text, name) for name in question.answers[0].names)
    return rouge_l(text, ", ".join(answer.names[0] for answer in question.answers))


def _total(attempt: Attempt) -> Tokens:
    used = [turn.tokens for turn in attempt.turns]
    return Tokens(
        prompt=sum(each.prompt for each in used),
        completion=sum(each.completion for each in used),
        cached=sum(each.cached for each in used),
    )
