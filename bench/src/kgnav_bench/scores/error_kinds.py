"""GraphRunner's kinds of errors (4.4, table 2), where recorded calls show them.

The paper's authors classified failures by hand. Computed here are: a context window that was exceeded, from the
endpoint's message; an answer that no call showed, which is the paper's fabricated answer; and a shown but wrong answer,
the paper's reasoning error. Not computed: fabricated reasoning steps within a text, and whether a wrong number or date
was computed from shown rows or invented. A reader or a judge must decide these.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from kgnav_bench.records import AnswerKind, Attempt, Outcome, Question
from kgnav_bench.scores.matching import Match
from kgnav_bench.scores.observations import Observations
from kgnav_bench.scores.values import key

_CONTEXT: Final = re.compile(
    r"context.{0,20}(?:length|window|size)|prompt is too long"
    r"|(?:tokens|prompt|too long).{0,40}(?:exceed|context|maximum)",
    re.IGNORECASE,
)
"""What OpenAI's, Anthropic's, vLLM's and llama.cpp's endpoints say."""
_CUT: Final = "length"


class ErrorKind(StrEnum):
    """Why an attempt is wrong. Each wrong attempt has one kind, the first that applies."""

    CONTEXT = "context window exceeded"
    """The endpoint refused a prompt as too long for the model (GraphRunner)."""
    FAILED = "failed"
    """The endpoint or the server failed otherwise."""
    CUT = "cut off"
    """There is no answer, and the last reply was cut: by the limit of its tokens or by the context.

    The endpoint does not say which.
    """
    NO_ANSWER = "no answer"
    """Abstained, unreadable, exhausted or refused; or an empty answer to a question that has answers."""
    HALLUCINATION = "hallucination"
    """An answer is wrong, and no call showed it (GraphRunner's fabricated answers)."""
    UNDETERMINED = "undetermined"
    """A wrong number, date, truth value or text that no call showed: computed or invented."""
    REASONING = "reasoning"
    """Every wrong answer was shown by a call, or true answers are missing (GraphRunner)."""


def error_kind(question: Question, attempt: Attempt, match: Match) -> ErrorKind | None:
    """The kind of an attempt's error; None if it gives all true answers and no other."""
    if attempt.outcome in {Outcome.ANSWERED, Outcome.ABSTAINED} and match.score.correct:
        return None
    if _CONTEXT.search(attempt.error):
        return ErrorKind.CONTEXT
    if attempt.outcome is Outcome.FAILED:
        return ErrorKind.FAILED
    if attempt.outcome is not Outcome.ANSWERED or not match.given:
        cut = bool(attempt.turns) and attempt.turns[-1].finish == _CUT
        return ErrorKind.CUT if cut else ErrorKind.NO_ANSWER
    return _wrong_answer(question, attempt, match)


def _wrong_answer(question: Question, attempt: Attempt, match: Match) -> ErrorKind:
    wrong = [text for text, right in zip(match.given, match.right, strict=True) if not right]
    observations = Observations(attempt)
    not_shown = [text for text in wrong if not observations.show(text)]
    if not not_shown:
        return ErrorKind.REASONING
    names = question.answer_kind is AnswerKind.ENTITIES and any(key(text)[0] == "text" for text in not_shown)
    return ErrorKind.HALLUCINATION if names else ErrorKind.UNDETERMINED
