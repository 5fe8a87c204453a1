"""The description of a dataset: its files, their licence and source, and how they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kgnav_bench.datasets.rows import BadRowError, Row, Rows
from kgnav_bench.records import Question


@dataclass(frozen=True, slots=True)
class File:
    """A published file."""

    split: str
    url: str
    sha256: str | None = None
    """None if the publisher may change the file, or if it was never fetched for this project."""

    @property
    def name(self) -> str:
        """Its name in the cache."""
        return self.url.rpartition("/")[2].partition("?")[0]


@dataclass(frozen=True, slots=True)
class Reading:
    """How a row is read as a question."""

    path: Path
    language: str = "en"
    """The language of the question's text, where a dataset has several."""
    place: str = ""
    """The place of the row in its file, such as `line 3`."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A published set of questions."""

    name: str
    title: str
    graph: str
    """The knowledge graph that its questions are about."""
    questions: int
    """Number of questions in all published files."""
    licence: str
    home: str
    """The web page of its authors."""
    used_by: str
    """The papers implemented here that evaluate on it."""
    rows: Rows
    question: Callable[[Row, Reading], Question]
    files: Sequence[File] = ()
    """The files that can be fetched without a login."""
    by_hand: str = ""
    """How to get the files that cannot be fetched."""


@dataclass(slots=True)
class Read:
    """The questions of a file, and the rows that are not questions."""

    questions: list[Question] = field(default_factory=list[Question])
    bad: list[str] = field(default_factory=list[str])
    """Place and reason of each row that is not a question."""
    renamed: int = 0
    """Number of questions that had the id of another one. A number is appended to their ids."""


def read(dataset: Dataset, path: Path, *, split: str = "", language: str = "en") -> Read:
    """Read all questions of a file.

    Raises:
        UnreadableDatasetError: the file is not one of this dataset.
    """
    result = Read()
    used: dict[str, int] = {}
    for place, row in dataset.rows(path):
        try:
            question = dataset.question(row, Reading(path, language, place))
        except BadRowError as error:
            result.bad.append(f"{place}: {error}")
            continue
        number = used[question.id] = used.get(question.id, 0) + 1
        if number > 1:
            result.renamed += 1
        name = question.id if number == 1 else f"{question.id}#{number}"
        result.questions.append(question.model_copy(update={"id": name, "dataset": dataset.name, "split": split}))
    return result


def numbered(reading: Reading) -> str:
    """An id derived from the row's place, for datasets without ids."""
    return reading.place.rpartition(" ")[2]


def either(first: Rows, other: Rows, suffixes: Sequence[str]) -> Rows:
    """Returns a reader that uses `first` for files with one of these suffixes and `other` for all others.

    The suffix of a compression is ignored.
    """

    def rows(path: Path) -> Iterator[tuple[str, Row]]:
        bare = path.with_suffix("") if path.suffix in {".gz", ".bz2"} else path
        return (first if bare.suffix in suffixes else other)(path)

    return rows
