"""Questions and attempts for tests of scores, in one line each."""

from __future__ import annotations

from kgnav_bench.records import Answer, AnswerKind, Attempt, Outcome, Question, ToolCall, Turn


def question(
    *answers: str | Answer, name: str = "q", answer_kind: AnswerKind = AnswerKind.ENTITIES, kind: str = ""
) -> Question:
    """A question with this id and these true answers."""
    given = tuple(Answer(names=(each,)) if isinstance(each, str) else each for each in answers)
    return Question(id=name, text=f"Which? ({name})", answers=given, answer_kind=answer_kind, kind=kind)


def attempt(*answers: str, outcome: Outcome = Outcome.ANSWERED, question: str = "q", **fields: object) -> Attempt:
    """An attempt that ended with these answers."""
    return Attempt.model_validate(
        {"question": question, "arm": "walk", "answers": answers, "outcome": outcome, **fields}
    )


def shown(*results: str | ToolCall) -> tuple[Turn, ...]:
    """One turn for each call of a tool, with its result."""
    calls = (
        each if isinstance(each, ToolCall) else ToolCall(tool="search", arguments={}, result=each) for each in results
    )
    return tuple(Turn(calls=(call,)) for call in calls)


def failed(result: str) -> ToolCall:
    """A call that failed."""
    return ToolCall(tool="search", arguments={}, result=result, is_error=True)
