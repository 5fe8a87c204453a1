"""Parses an agent's final output and compares it with the truth (GraphWalk, appendix B and table 2)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from kgnav_bench.graphwalk.questions import Question
from kgnav_bench.scores.sets import SetScore, set_score

_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)

Extract = Callable[[Question, str], str]
"""Extracts the answer, as JSON, from a text in another form than required. The paper uses a model for it."""
Answer = tuple[str | float, ...]


def parse_output(question: Question, output: str, extract: Extract | None = None) -> Sequence[Answer] | None:
    """The rows of an agent's output, without duplicates; None if they cannot be parsed.

    The output must be JSON in the question's form, possibly in a fenced block. From any other output `extract`, if
    given, extracts the answer.
    """
    for text in (output, *_FENCED.findall(output)[-1:]):
        rows = _rows(question, text)
        if rows is not None:
            return rows
    return _rows(question, extract(question, output)) if extract is not None else None


def score(question: Question, answers: Sequence[Answer] | None) -> SetScore:
    """Compare answers with the truth. Output that cannot be parsed counts as no answer."""
    given = set(answers or ())
    truth = {_typed(row, question.fields) for row in question.truth}
    hits = len(given & truth)
    wanted = 1 if question.template.one_answer else len(truth)
    return set_score(given=len(given), right=hits, found=hits, wanted=wanted)


def _rows(question: Question, text: str) -> Sequence[Answer] | None:
    try:
        parsed: Any = json.loads(text)
    except ValueError:
        return None
    objects: list[Any] = cast("list[Any]", parsed) if isinstance(parsed, list) else [parsed]
    rows: dict[Answer, None] = {}
    for each in objects:
        if not isinstance(each, Mapping) or any(name not in each for name in question.fields):
            return None
        values: list[object] = [cast("Mapping[str, object]", each)[name] for name in question.fields]
        try:
            rows[_typed(values, question.fields)] = None
        except (TypeError, ValueError):
            return None
    return list(rows)


def _typed(values: Sequence[object], fields: Mapping[str, str]) -> Answer:
    return tuple(_value(value, kind) for value, kind in zip(values, fields.values(), strict=True))


def _value(value: object, kind: str) -> str | float:
    """A number may be given as text.

    Raises:
        ValueError: it is neither text nor a number, or not a number where one is wanted.
    """
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError(f"{value!r} is neither text nor a number")  # noqa: TRY004 - one error for all bad values
    if kind == "string":
        return str(value)
    number = float(value)
    if math.isnan(number):
        raise ValueError(f"{value!r} is not a number")
    return number
