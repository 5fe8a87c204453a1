"""Runs tasks concurrently, cancels the rest when one fails, runs computations in threads, and reports progress."""

from __future__ import annotations

import asyncio
import os
import sys
from bisect import bisect_right
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import takewhile
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from kgnav_mcp.store_limits import last_answer_time, note_answer, store_limits

T = TypeVar("T")
S = TypeVar("S")

if TYPE_CHECKING:
    gathered = asyncio.gather  # its overloads give each result its own type; `return_exceptions` is not taken here
else:

    async def gathered(*work: Awaitable[Any]) -> list[Any]:
        """The results of all awaitables, as `asyncio.gather` returns them. If one fails, the others are cancelled.

        `asyncio.gather` would let them go on and load the store with queries whose results nobody reads.

        Raises:
            The first error that one of them raised.
        """
        if len(work) < 2:
            return [await each for each in work]  # a task of its own costs as much as a small look-up
        tasks = [asyncio.ensure_future(each) for each in work]
        try:
            return await asyncio.gather(*tasks)
        except BaseException:
            await _cancel(tasks)
            raise


async def run_unless_stopped(
    work: Coroutine[Any, Any, T], stopped: Callable[[], Coroutine[Any, Any, bool]], after: float
) -> T | None:
    """The result of work, or None if it is stopped first.

    `stopped` is called once the work has lasted `after` seconds. If it returns True before the work ends, the work is
    cancelled.
    """
    tasks: list[asyncio.Future[Any]] = [asyncio.ensure_future(work)]
    try:
        await asyncio.wait(tasks, timeout=after)
        if not tasks[0].done():
            tasks.append(asyncio.ensure_future(stopped()))
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if not tasks[0].done() and tasks[1].result():
                return None
        return await tasks[0]
    finally:
        await _cancel(tasks)


async def _cancel(tasks: list[asyncio.Future[Any]]) -> None:
    """Cancel those of some tasks that have not ended, wait for them, and empty the list.

    The error of a task refers to the frame that waited for it. If that still had the task, all that the frames hold
    would be kept until the next full garbage collection: 35 MB for a refused plan.
    """
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    tasks.clear()


async def gathered_for(items: Iterable[S], work: Callable[[S], Awaitable[T]]) -> list[T]:
    """The results of work on each of the items, as by `gathered`. Use it inside another `gathered`.

    The coroutines are created when this one starts, so that none is left unawaited if it is cancelled before.
    """
    return list(await gathered(*map(work, items)))


MAX_INLINE = 200
"""Maximum items on which work runs in the event loop's thread: work on 10,000 items takes a tenth of a second."""
_NICENESS = 5


def lower_priority() -> None:
    """Let all other threads compute before this one, from now on. Only Linux has priorities of single threads."""
    if sys.platform == "linux":
        os.nice(_NICENESS)


_WORKER = ThreadPoolExecutor(1, "kgnav-work")
_PLAN_WORKER = ThreadPoolExecutor(1, "kgnav-plans", initializer=lower_priority)
"""One thread for plans, one for other calls: each computing thread delays the event loop by its share of the GIL."""


async def in_thread(size: int, work: Callable[[], T]) -> T:
    """The result of work on `size` items. With more than 200 items it runs in a thread, so that other calls go on."""
    if size <= MAX_INLINE:
        return work()
    worker = _PLAN_WORKER if store_limits().of_plan else _WORKER
    return await asyncio.get_running_loop().run_in_executor(worker, work)


async def mapped_in_thread(size: int, items: Sequence[S], work: Callable[[S], T]) -> list[T]:
    """The results of work on each item, as by `in_thread`. After a cancellation the work ends with the current item.

    Otherwise it would occupy the only thread, perhaps for a minute.
    """
    is_wanted = True

    def results() -> list[T]:
        return [work(item) for item in takewhile(lambda _: is_wanted, items)]

    try:
        return await in_thread(size, results)
    finally:
        is_wanted = False


_RUN = 1_024
"""Items that are sorted by one call of list.sort at most: a millisecond."""
_SAMPLE = 500
"""Keys that are sorted to choose the bounds of runs."""


def sorted_in_runs(items: Sequence[T], key: Callable[[T], Any], *, reverse: bool = False) -> list[T]:
    """As `sorted`, but other threads can run in between: list.sort holds the GIL for 200 ms with 100,000 items.

    The items are dealt out to runs, each with the keys between two of a sample, and each run is sorted by itself.
    """
    keyed = [(key(item), item) for item in items]
    return [item for run in _sorted_runs(keyed, reverse=reverse) for _, item in run]


def _sorted_runs(keyed: list[tuple[Any, T]], *, reverse: bool) -> Iterator[list[tuple[Any, T]]]:
    """The runs of sorted pairs of key and item, in their order. Pairs with equal keys keep theirs."""
    if len(keyed) <= _RUN:
        yield sorted(keyed, key=itemgetter(0), reverse=reverse)
        return
    bounds = sorted([one for one, _ in keyed[:: len(keyed) // _SAMPLE]])[:: _SAMPLE * _RUN // (2 * len(keyed)) or 1]
    runs: dict[int, list[tuple[Any, T]]] = {}
    for pair in keyed:
        runs.setdefault(bisect_right(bounds, pair[0]), []).append(pair)
    for place in sorted(runs, reverse=reverse):
        run = runs[place]
        if len(run) < len(keyed):
            yield from _sorted_runs(run, reverse=reverse)
        else:  # most keys are equal: comparing them with one of them divides the run
            middle = bounds[0]
            less = [pair for pair in run if pair[0] < middle]
            more = [pair for pair in run if middle < pair[0]]
            equal = [pair for pair in run if not pair[0] < middle and not middle < pair[0]]
            for part in (more, equal, less) if reverse else (less, equal, more):
                yield from (part,) if part is equal else _sorted_runs(part, reverse=reverse)


_SLICE = 500


async def apply_in_slices(items: Sequence[T], work: Callable[[Sequence[T]], object]) -> None:
    """Call `work` on slices of the items in the event loop's thread, and let other tasks run in between."""
    for start in range(0, len(items), _SLICE):
        if start:
            await asyncio.sleep(0)
        work(items[start : start + _SLICE])


@dataclass(slots=True, eq=False)
class _Run(Generic[T]):
    """One run of shared work, and the number of callers that wait for it."""

    task: asyncio.Task[tuple[T, float]]
    waiting: int = 0


class SharedTask(Generic[T]):
    """Work that runs once for all concurrent callers.

    It goes on as long as one caller waits, and is cancelled when all of them are, unless it `finishes` in any case. The
    result, or the error, goes to all callers that waited for it and is not kept: the next call starts a new run.
    """

    def __init__(self, work: Callable[[], Coroutine[Any, Any, T]], *, finishes: bool = False) -> None:
        self._work = work
        self._finishes = finishes
        self._run: _Run[T] | None = None
        self._ending: set[asyncio.Task[tuple[T, float]]] = set()

    async def result(self) -> T:
        """The result of the current run, or of a new one.

        Raises:
            The error of the work; CancelledError if `end` cancelled it.
        """
        run = self._run
        if run is None or run.task.done():
            run = self._run = _Run(asyncio.create_task(self._outcome()))
            self._ending.add(run.task)
            run.task.add_done_callback(self._forget)
        run.waiting += 1
        try:
            await asyncio.wait([run.task])  # unlike awaiting the task itself, this does not cancel it
        finally:
            run.waiting -= 1
            if not run.waiting and not self._finishes:
                self._abandon(run)
        result, heard = run.task.result()
        note_answer(heard)  # The store has answered the shared run, so it does answer this call, too.
        return result

    async def end(self) -> None:
        """Cancel the current run and wait until it has ended."""
        if self._run is not None:
            self._abandon(self._run)
        if self._ending:
            await asyncio.wait(self._ending)

    async def _outcome(self) -> tuple[T, float]:
        """The result, and the time at which the store last answered."""
        return await self._work(), last_answer_time()

    def _abandon(self, run: _Run[T]) -> None:
        run.task.cancel()
        if self._run is run:
            self._run = None

    def _forget(self, task: asyncio.Task[tuple[T, float]]) -> None:
        self._ending.discard(task)
        if not task.cancelled():
            task.exception()  # Retrieved, so that asyncio does not log an error for which no caller waited.


PROGRESS_INTERVAL = 1.0
"""Seconds between two progress messages, and before the first: a short plan sends none."""

Progress = Callable[[str], Awaitable[None]]
"""Sends a progress message to the client."""


@asynccontextmanager
async def reporting(progress: Progress | None, how_far: Callable[[], str]) -> AsyncGenerator[None]:
    """Send a progress message once a second until the work inside is done."""
    if progress is None:
        yield
        return

    async def tell() -> None:
        while True:
            await progress(how_far())
            await asyncio.sleep(PROGRESS_INTERVAL)

    # The task is created only when a message is due: creating and ending one costs as much as a small query.
    telling: list[asyncio.Task[None]] = []
    due = asyncio.get_running_loop().call_later(PROGRESS_INTERVAL, lambda: telling.append(asyncio.create_task(tell())))
    try:
        yield
    finally:
        due.cancel()
        for task in telling:
            task.cancel()
            await asyncio.wait([task])
    for task in telling:
        if not task.cancelled():
            task.result()  # raises an error of `progress`
