"""Finds training questions that are too similar to those of a test set (GraphWalker, appendix B.2)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kgnav_bench.records import Question

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

Encode = Callable[[Sequence[str]], "Vectors"]
"""Encodes texts as unit vectors, one row for each."""

THRESHOLDS = (0.80, 0.85, 0.90)
"""Minimum cosine similarities of questions that overlap, as reported in table 5. Appendix B.2 uses the second."""
_BATCH = 1_000


class NoEncoderError(Exception):
    """The sentence model cannot be used. The message says what to install."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """What a question has in common with a test question."""

    text: bool = False
    """Whether both have the same words."""
    path: bool = False
    """Whether both have the same topics and the same relations in the same order."""
    entities: bool = False
    """Whether both have the same topics and the same answers."""
    similarity: float = 0.0
    """The highest cosine similarity to a test question; 0 if it was not computed."""

    def flagged(self, threshold: float) -> bool:
        """Whether the question overlaps at this threshold, so that it is excluded."""
        return self.text or self.path or self.entities or self.similarity >= threshold


class KnownTests:
    """Test questions, indexed by what is compared."""

    def __init__(self, questions: Iterable[Question]) -> None:
        self.texts: list[str] = []
        self._words = set[str]()
        self._paths = set[tuple[frozenset[str], tuple[str, ...]]]()
        self._entities = set[tuple[frozenset[str], frozenset[str]]]()
        for question in questions:
            self.texts.append(question.text)
            self._words.add(_words(question.text))
            topics = _topics(question)
            if topics and question.relations:
                self._paths.add((topics, question.relations))
            if topics and question.answers:
                self._entities.add((topics, _answers(question)))

    def exact(self, question: Question) -> Overlap:
        """The overlap with the test questions, without similarity of meaning."""
        topics = _topics(question)
        return Overlap(
            text=_words(question.text) in self._words,
            path=bool(question.relations) and (topics, question.relations) in self._paths,
            entities=(topics, _answers(question)) in self._entities,
        )


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _topics(question: Question) -> frozenset[str]:
    return frozenset((each.name or each.id).casefold() for each in question.topics)


def _answers(question: Question) -> frozenset[str]:
    return frozenset(each.names[0].casefold() for each in question.answers)


def overlaps(questions: Sequence[Question], tests: Sequence[Question], encoder: str | None) -> list[Overlap]:
    """The overlap of each question with test questions.

    With the name of a sentence model, meanings are compared as well.

    Raises:
        NoEncoderError: the sentence model cannot be used.
    """
    known = KnownTests(tests)
    exact = [known.exact(each) for each in questions]
    if encoder is None:
        return exact
    similar = similarities(sentence_encoder(encoder), [each.text for each in questions], known.texts)
    return [replace(one, similarity=value) for one, value in zip(exact, similar, strict=True)]


def similarities(encode: Encode, texts: Sequence[str], tests: Sequence[str]) -> list[float]:
    """The highest cosine similarity of each text to a test question."""
    known = encode(tests)
    found: list[float] = []
    for start in range(0, len(texts), _BATCH):
        found += [float(each) for each in (encode(texts[start : start + _BATCH]) @ known.T).max(axis=1)]
    return found


def sentence_encoder(name: str) -> Encode:
    """A sentence model of the package sentence-transformers, by its name or its folder.

    Raises:
        NoEncoderError: the package is not installed, or there is no such model.
    """
    from importlib import import_module  # noqa: PLC0415 - slow, and an extra

    try:
        package: Any = import_module("sentence_transformers")
    except ModuleNotFoundError as error:
        raise NoEncoderError("--encoder needs an extra. Run: pip install 'kgnav-bench[semantic]'") from error
    try:
        model = package.SentenceTransformer(name)
    except (OSError, ValueError) as error:
        reason = str(error)[:200].rstrip(". ")
        raise NoEncoderError(f"no sentence model {name!r}: {reason}. Name a folder that has one.") from error

    def encode(texts: Sequence[str]) -> Vectors:
        return model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)

    return encode
