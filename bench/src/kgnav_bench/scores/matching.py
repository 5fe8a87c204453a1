"""Compares the answers of an attempt with a question's true ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgnav_bench.records import Question
from kgnav_bench.scores.sets import SetScore, set_score
from kgnav_bench.scores.values import Key, entity_id, key


@dataclass(frozen=True, slots=True)
class Match:
    """Which of the given answers are true."""

    given: tuple[str, ...]
    """The answers as given, without duplicates and without further names of the same true answer."""
    right: tuple[bool, ...]
    """For each given answer, whether it is true."""
    values: tuple[str, ...]
    """Each given answer, normalized: a true answer has its usual name. Equal in repeats that agree."""
    score: SetScore

    @property
    def hits_at_1(self) -> bool:
        """Whether the first given answer is true. An empty answer is right if there is no true answer."""
        return self.right[0] if self.right else self.score.correct

    @property
    def exact_match(self) -> bool:
        """Whether any given answer is true. An empty answer is right if there is no true answer."""
        return any(self.right) or self.score.correct


class Truth:
    """The true answers of a question, by each of their names and ids."""

    def __init__(self, question: Question) -> None:
        self.kind = question.answer_kind
        self.number = len(question.answers)
        self._by_key: dict[Key, frozenset[int]] = {}
        for place, answer in enumerate(question.answers):
            keys = {key(name, self.kind) for name in answer.names}
            if answer.id is not None:
                keys.add(entity_id(answer.id))
            for each in keys:
                self._by_key[each] = self._by_key.get(each, frozenset()) | {place}

    def places(self, text: str) -> frozenset[int]:
        """The indexes of the true answers that a text names by a name or an id.

        There is more than one if several entities have the name.
        """
        named = self._by_key.get(key(text, self.kind), frozenset[int]())
        return named | self._by_key.get(entity_id(text), frozenset[int]())


def match_answers(question: Question, answers: Sequence[str]) -> Match:
    """Compare answers with the truth as sets. The order counts for the first answer only.

    Two names of the same true answer are one answer. A name that two true answers share gives both.
    """
    truth = Truth(question)
    places = {text: truth.places(text) for text in answers}
    distinct: dict[Key | frozenset[int], str] = {}
    for text, own in places.items():
        distinct.setdefault(own or key(text, truth.kind), text)
    given = tuple(distinct.values())
    right = tuple(bool(places[text]) for text in given)
    values = tuple(
        str(key(question.answers[min(own)].names[0] if own else text, truth.kind)[1])
        for text, own in ((text, places[text]) for text in given)
    )
    found = frozenset[int]().union(*places.values())
    score = set_score(given=len(given), right=sum(right), found=len(found), wanted=truth.number)
    return Match(given, right, values, score)
