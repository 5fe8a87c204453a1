"""A benchmark's run. Each finished item is written to a file at once, so that a run that was killed can be resumed.

The file has a JSON object on each line. The first has the run's parameters, each other one an item: its key, its value,
and the seconds that it took. The report is written beside the file, in markdown.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Any, Generic, NoReturn, Self, TypeVar

from pydantic import TypeAdapter
from tqdm import tqdm

K = TypeVar("K")
T = TypeVar("T")
Ready = Callable[[], AbstractContextManager[Sequence[Callable[[K], T]]]]
"""Prepares the measuring, such as a server. A context that yields the functions that measure an item."""


class UnusableFileError(Exception):
    """The file has results with other parameters, or is not a file of a run."""


class Run:
    """The finished items of one benchmark with one set of parameters.

    Raises UnusableFileError if the file has other contents. An incomplete last line is dropped.
    """

    def __init__(self, path: Path, parameters: Mapping[str, object], *, progress: bool = False) -> None:
        """Open or create the file.

        `parameters` are all that the results depend on, as JSON. `progress` shows bars on stderr.
        """
        self.path = path
        self.progress = progress
        self._lines: dict[str, Any] = {}
        self._lock = threading.Lock()
        self.seconds = 0.0
        """Time that the finished items took, one after the other."""
        header = json.dumps({"parameters": parameters}) + "\n"
        self._file = path.open("a+b")
        try:
            self._read(header)
        except BaseException:
            self._file.close()
            raise

    @property
    def finished(self) -> int:
        """Number of finished items."""
        return len(self._lines)

    def number_of(self, beginning: str) -> int:
        """Number of finished items whose keys begin with this text."""
        return sum(key.startswith(beginning) for key in self._lines)

    def _read(self, header: str) -> None:
        self._file.seek(0)
        content = self._file.read()
        whole, newline, rest = content.rpartition(b"\n")
        if newline:
            first, *lines = whole.split(b"\n")
            self._check(first, json.loads(header)["parameters"])
            for number, line in enumerate(lines, 2):
                self._add(number, line)
        elif not header.encode().startswith(rest):
            raise UnusableFileError(f"{self.path} was not written by this command. Name another file with --output.")
        self._file.truncate(len(whole) + len(newline))
        if not newline:
            self._write(header)

    def _check(self, line: bytes, parameters: Mapping[str, object]) -> None:
        try:
            there = json.loads(line)["parameters"]
        except (ValueError, KeyError, TypeError) as error:
            message = f"{self.path} was not written by this command. Name another file with --output."
            raise UnusableFileError(message) from error
        differing = [
            f"{name} {there.get(name)!r}, not {parameters.get(name)!r}"
            for name in {**there, **parameters}
            if there.get(name) != parameters.get(name)
        ]
        if differing:
            raise UnusableFileError(
                f"{self.path} has results of other parameters: {'; '.join(differing)[:200]}. "
                "Name another file with --output, or discard its results with --again."
            )

    def _add(self, number: int, line: bytes) -> None:
        try:
            item = json.loads(line)
            key, value, seconds = item["key"], item["value"], item["seconds"]
        except (ValueError, KeyError, TypeError) as error:
            message = f"line {number} of {self.path} is not an item. Discard the file's results with --again."
            raise UnusableFileError(message) from error
        self._lines[key] = value
        self.seconds += seconds

    def _write(self, line: str) -> None:
        self._file.write(line.encode())
        self._file.flush()

    def items(self, title: str, kind: type[T], total: int) -> Items[T]:
        """A group of about `total` items. Their values have the type `kind`: a dataclass, or a type that JSON has."""
        return Items(self, title, kind, total)

    def measured(self, title: str, kind: type[T], items: Mapping[str, K], ready: Ready[K, T]) -> list[T]:
        """The values of all items, in their order: read from the file, or else measured now.

        `ready` prepares the measuring, and is not called if nothing is missing. It yields functions that measure an
        item. One function is called in this thread; several are called in as many threads, which share the items.
        """
        with self.items(title, kind, len(items)) as group:
            missing = [(key, item) for key, item in items.items() if key not in group]
            if missing:
                with ready() as measures:

                    def share(place: int) -> None:
                        for key, item in missing[place :: len(measures)]:
                            group.value(key, partial(measures[place], item))

                    if len(measures) == 1:
                        share(0)
                    else:
                        with ThreadPoolExecutor(len(measures)) as threads:
                            list(threads.map(share, range(len(measures))))
            return [group[key] for key in items]

    def kept(self, key: str) -> Any:  # noqa: ANN401 - any JSON
        """The value of a finished item; None if it is not finished."""
        return self._lines.get(key)

    def keep(self, key: str, value: object, seconds: float) -> None:
        """Write a finished item."""
        with self._lock:
            self._write(json.dumps({"key": key, "value": value, "seconds": seconds}, ensure_ascii=False) + "\n")
            self._lines[key] = value
            self.seconds += seconds

    def write_report(self, text: str) -> Path:
        """Write the report beside the file. Returns its path."""
        path = self.path.with_suffix(".md")
        path.write_text(f"{text}\n", encoding="utf-8")
        return path

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


class Items(Generic[T]):
    """A group of items of a run, as a context in which a progress bar is shown."""

    def __init__(self, run: Run, title: str, kind: type[T], total: int) -> None:
        self._run = run
        self._title = title
        self._adapter = TypeAdapter(kind)
        kept = run.number_of(f"{title}/")
        self._bar: tqdm[NoReturn] = tqdm(total=total, initial=kept, desc=title, disable=not run.progress)

    def __contains__(self, key: str) -> bool:
        """Whether an item is finished."""
        return self._run.kept(f"{self._title}/{key}") is not None

    def __getitem__(self, key: str) -> T:
        """The value of a finished item."""
        return self._adapter.validate_python(self._run.kept(f"{self._title}/{key}"))

    def value(self, key: str, measure: Callable[[], T]) -> T:
        """The value of an item. It is measured now unless it is finished."""
        if key not in self:
            start = perf_counter()
            self.finish(key, measure(), start)
        return self[key]

    def finish(self, key: str, value: T, start: float) -> None:
        """Write the value of an item, whose measuring began at `start` (in seconds of the performance counter)."""
        seconds = perf_counter() - start
        self._run.keep(f"{self._title}/{key}", self._adapter.dump_python(value, mode="json"), seconds)
        self._bar.update()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.close()
