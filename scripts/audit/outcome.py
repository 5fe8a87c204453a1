"""Compares an answer with what the raw files say."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from . import answers
from .client import Answer
from .question import Question, Refusal, Rows

_SHOWN = 4
_FAULTS = ("internal error", "unexpected error", "traceback", "the cursors do not end")
"""Parts of messages that no refusal has."""


class Verdict(StrEnum):
    """What became of a question."""

    RIGHT = "right"
    WRONG = "wrong"
    REFUSED = "refused"
    NOT_JUDGED = "not judged"
    """The audit itself could not read what it compares answers with."""


@dataclass(frozen=True)
class Outcome:
    """A question with its verdict, and what was answered where it is not right."""

    question: Question
    call: str
    verdict: Verdict
    answered: str = ""
    expected: str = ""


def compare(question: Question, call: str, answer: Answer, keys: answers.Ids) -> Outcome:
    """The verdict on an answer."""
    if answer.error is not None:
        return Outcome(question, call, _verdict_on_error(question, answer.error), answer.error)
    difference = _difference(question, answer, keys)
    if difference is None:
        return Outcome(question, call, Verdict.RIGHT)
    return Outcome(question, call, Verdict.WRONG, *difference)


def _verdict_on_error(question: Question, error: str) -> Verdict:
    if any(part in error.lower() for part in _FAULTS):
        return Verdict.WRONG
    return Verdict.REFUSED if question.expected.refusal is Refusal.COUNTED else Verdict.RIGHT


def _difference(question: Question, answer: Answer, keys: answers.Ids) -> tuple[str, str] | None:
    """What was answered and what is expected, where they differ."""
    expected = question.expected
    if expected.refusal is Refusal.REQUIRED:
        return f"{len(answer.rows)} rows", "a refusal"
    if expected.total is not None:
        total = answer.total or 0
        right = total == expected.total if answer.exact else total <= expected.total
        return None if right else (f"{'' if answer.exact else 'at least '}{total}", str(expected.total))
    rows = answers.read(question.reader, answer.rows, keys, ordered=question.ordered_lists)
    if rows != expected.rows and not (answer.notes and rows == expected.other):
        more, less = rows - expected.rows, expected.rows - rows
        answered = f"{rows.total()} rows, {len(rows)} distinct; not expected: {_listed(more)}"
        return f"{answered}; notes: {list(answer.notes)}", f"{expected.rows.total()} rows; missing: {_listed(less)}"
    if answer.exact and answer.total != rows.total():
        return f"{rows.total()} rows, all right, but a total of {answer.total}", "a total as its rows"
    if expected.noted and not answer.notes:
        return "no note", "a note that the value was read as an id"
    return None


def _listed(rows: Rows) -> str:
    some = [f"{row}{f' x {number}' if number > 1 else ''}" for row, number in list(rows.items())[:_SHOWN]]
    rest = len(rows) - len(some)
    return ", ".join(some) + (f" and {rest} more" if rest else "") if some else "nothing"
