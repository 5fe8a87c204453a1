"""Reads questions and the attempts at them. Refuses files that cannot be scored together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from kgnav_bench.records import Attempt, Question, UnreadableRecordsError, read_records


class UnscorableError(Exception):
    """The attempts do not belong to the questions, or contradict each other. The message says which."""


def read_questions(paths: Sequence[Path]) -> dict[str, Question]:
    """The questions of the files, by id.

    Raises:
        UnreadableRecordsError: a line is not a question.
        UnscorableError: two questions have the same id, or there are no questions.
    """
    questions: dict[str, Question] = {}
    for path in paths:
        for question in read_records(path, Question):
            if question.id in questions:
                raise UnscorableError(
                    f"two questions of {_listed(paths)} have the id {question.id!r}. Score each dataset and split on "
                    "its own: name one file with --data."
                )
            questions[question.id] = question
    if not questions:
        raise UnscorableError(
            f"{_listed(paths)} has no questions. `kgnav-bench dataset read --help` says how to make them."
        )
    return questions


def read_attempts(paths: Sequence[Path], questions: Mapping[str, Question]) -> Iterator[tuple[Question, Attempt]]:
    """The attempts of the files, each with its question.

    Raises:
        UnreadableRecordsError: a line is not an attempt.
        UnscorableError: an attempt is at an unknown question or occurs twice, or there are no attempts.
    """
    origins: dict[tuple[str, str, str, int], Path] = {}
    for path in paths:
        for attempt in _attempts(path):
            question = questions.get(attempt.question)
            if question is None:
                raise UnscorableError(
                    f"{path} has an attempt at question {attempt.question!r}, which the data does not have. Name the "
                    "file of its questions with --data."
                )
            identity = (attempt.arm, attempt.model, attempt.question, attempt.repeat)
            if identity in origins:
                raise UnscorableError(
                    f"the attempt of arm {attempt.arm!r}, model {attempt.model!r} at question {attempt.question!r}, "
                    f"repeat {attempt.repeat}, is in {origins[identity]} and again in {path}. Name each file once."
                )
            origins[identity] = path
            yield question, attempt
    if not origins:
        raise UnscorableError(f"{_listed(paths)} has no attempts. Make some with `kgnav-bench ask`.")


def _attempts(path: Path) -> Iterator[Attempt]:
    """The attempts of a file. `ask` writes a file of the run beside it, which is refused."""
    try:
        yield from read_records(path, Attempt)
    except UnreadableRecordsError as error:
        beside = path.with_suffix(".attempts.jsonl")
        hint = f". {path} is a run; its attempts are in {beside}: name that file." if beside.exists() else ""
        raise UnreadableRecordsError(f"{error}{hint}") from error


def _listed(paths: Sequence[Path]) -> str:
    return ", ".join(map(str, paths))
