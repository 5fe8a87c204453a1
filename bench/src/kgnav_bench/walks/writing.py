"""Writes conversations to a file that can be continued after a kill, with a report beside it.

The file contains only conversations. What was dropped, and which numbers are finished, is kept in a second file, that
of the run. A conversation is written before its number is finished, so that at most one line must be cut off.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Any, NoReturn, Self, cast

from tqdm import tqdm

from kgnav_bench import report
from kgnav_bench.runs import Run, UnusableFileError
from kgnav_bench.walks.making import Made
from kgnav_bench.walks.patterns import pattern
from kgnav_bench.walks.sharegpt import Conversation, read_conversations

FRUITLESS = 10
"""Number of consecutive numbers without a walk after which no more are expected."""

DUPLICATE = "the same question as an earlier one"


def progress_file(output: Path) -> Path:
    """The file beside a file of walks that records which numbers are finished."""
    return output.with_name(f"{output.stem}.progress.jsonl")


def discard(output: Path) -> None:
    """Delete a file of walks, so that it is made again."""
    output.unlink(missing_ok=True)
    progress_file(output).unlink(missing_ok=True)


class OutOfWalksError(Exception):
    """The graph has no more walks of this shape within the limits. Those that were found are written."""


@dataclass(slots=True)
class Written:
    """The state of the file: its conversations, and what was dropped."""

    kept: int = 0
    numbers: int = 0
    dropped: Counter[str] = field(default_factory=Counter[str])
    rate: float | None = None
    """Number of walks per second that this run kept; None if it made none."""


class WalkFile:
    """A file of conversations that grows by one line at a time."""

    def __init__(self, output: Path, run: Run, title: str) -> None:
        """Continue the file at its end. The ids of its conversations begin with `title`.

        Raises:
            UnusableFileError: the lines of the file are not those that its run has finished.
        """
        self._run = run
        self._title = title
        self._keys = set[str]()
        self.state = Written()
        kept: list[int] = []
        while (item := run.kept(self._item(self.state.numbers))) is not None:
            self._count(item)
            if item["kept"]:
                kept.append(self.state.numbers - 1)
        self._cut(output, len(kept))
        if kept:
            self._read(output, kept)
        self._file = output.open("ab")

    def _item(self, number: int) -> str:
        return f"{self._title}/{number}"

    def _count(self, item: Mapping[str, Any]) -> None:
        self.state.dropped += Counter(cast("dict[str, int]", item["dropped"]))
        self.state.kept += bool(item["kept"])
        self.state.numbers += 1

    def _cut(self, output: Path, lines: int) -> None:
        """Cut off a line whose number was not finished."""
        if not output.exists():
            if lines:
                raise UnusableFileError(f"{output} is gone. Make its walks anew with --again.")
            return
        with output.open("r+b") as file:
            if sum(file.readline().endswith(b"\n") for _ in range(lines)) < lines:
                raise UnusableFileError(f"{output} has fewer lines than were written. Make them anew with --again.")
            rest = file.tell()
            if not lines and file.read(1):
                file.seek(0)
                self._refuse_others(output, file.readline())
            file.truncate(rest)

    def _refuse_others(self, output: Path, line: bytes) -> None:
        """A file that no run of this command began is not overwritten; the beginning of a first line is."""
        if line.endswith(b"\n") and not line.startswith(f'{{"id":"{self._title}/'.encode()):
            raise UnusableFileError(f"{output} was not written by this command. Name another file with --output.")

    def _read(self, output: Path, kept: Sequence[int]) -> None:
        for number, conversation in zip(kept, read_conversations(output), strict=True):
            metadata = conversation.metadata
            if conversation.id != self._item(number):
                raise UnusableFileError(f"{output} has other walks than were written. Make them anew with --again.")
            if metadata.path:
                self._keys.add(pattern(metadata.shape, metadata.path).key)

    async def fill(
        self, made: AsyncIterator[Made], count: int, *, progress: bool, fruitless_limit: int = FRUITLESS
    ) -> None:
        """Take results in the order of their numbers until the file has `count` conversations, or there are no more.

        Raises:
            OutOfWalksError: `fruitless_limit` numbers in a row had no walk.
        """
        fruitless, before, start = 0, self.state.kept, perf_counter()
        bar: tqdm[NoReturn] = tqdm(
            total=count, initial=self.state.kept, desc=self._title, unit=" walks", disable=not progress
        )
        with bar:
            async for one in made:
                added = self._take(one)
                bar.update(added)
                self.state.rate = (self.state.kept - before) / (perf_counter() - start) or None
                fruitless = 0 if added else fruitless + 1
                if self.state.kept >= count:
                    return
                if fruitless == fruitless_limit:
                    raise OutOfWalksError(
                        f"No more walks of shape {self._title} were found: {self.state.kept:,} of {count:,}. "
                        f"{_most_frequent(one.dropped)}Widen the limits, or name more entities with --seeds FILE."
                    )

    def _take(self, made: Made) -> bool:
        conversation = made.conversation
        dropped = Counter(made.dropped)
        if conversation is not None and made.key in self._keys:
            dropped[DUPLICATE] += 1
            conversation = None
        if conversation is not None:
            self._keys.add(made.key)
            self._write(conversation)
        item = {"kept": conversation is not None, "dropped": dict(dropped)}
        self._run.keep(self._item(made.number), item, made.seconds)
        self._count(item)
        return conversation is not None

    def _write(self, conversation: Conversation) -> None:
        self._file.write(conversation.model_dump_json().encode() + b"\n")
        self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def _most_frequent(dropped: Counter[str]) -> str:
    return f"Most walks were dropped because of: {dropped.most_common(1)[0][0]}. " if dropped else ""


def summary(state: Written, settings: Mapping[str, object], source: Path) -> str:
    """The report: how many walks were kept and dropped, by reason."""
    sampled = state.kept + state.dropped.total()
    rows = [("kept", report.share(state.kept, sampled))]
    rows += [(reason, report.share(count, sampled)) for reason, count in state.dropped.most_common()]
    lines = [f"# Walks in {source.name}", "", report.table(("walks", "share of those begun"), rows), ""]
    if state.rate is not None:
        pace = f"{state.rate:.2f} walks a second: 15,000 would take {15_000 / state.rate / 60:,.0f} minutes"
        lines += [f"This run kept {pace}.", ""]
    lines.append(f"Made with {json.dumps(settings, ensure_ascii=False)}")
    return "\n".join(lines)
