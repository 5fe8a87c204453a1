"""The limits of one plan: rows held, bytes of created values, compared values, and time.

Also the sizes of its parts, and whether some facts could not be read.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import monotonic

from kgnav_mcp.errors import PlanOverBudget, PlanTooLarge, StoreTimeout
from kgnav_mcp.languages.cypher import write_part
from kgnav_mcp.model import Certainty, Count, PartSize, Stop
from kgnav_mcp.navigation.plans.evaluate.values import Row, Table, Value, size_in_bytes
from kgnav_mcp.plan import EdgePattern, Expression, Match, NodePattern, Variable
from kgnav_mcp.port.path_search import EDGES_PER_ROW
from kgnav_mcp.values.scalars import MAX_BYTES, Growth

_GRACE_S = 0.5
"""Seconds added to the store's time-out, so that a store that stops a query itself says so first."""
_AGAIN = "Try again; if it fails again, make the plan smaller or raise --timeout."


@dataclass(frozen=True, slots=True)
class Deadline:
    """The time at which a plan must have ended, and the seconds that it has in total."""

    seconds: float
    at: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """The deadline of a plan that begins now."""
        return cls(seconds, monotonic() + seconds + _GRACE_S)

    def seconds_left(self) -> float:
        """The seconds until the deadline, at least 0."""
        return max(self.at - monotonic(), 0.0)


@asynccontextmanager
async def time_limit(deadline: Deadline | None, position: Callable[[], str]) -> AsyncGenerator[None]:
    """Ends the work of this block at the deadline. `position` says how far it got.

    Raises:
        StoreTimeout: the deadline has passed.
    """
    if deadline is None:
        yield
        return
    limit = asyncio.timeout(deadline.seconds_left())
    try:
        async with limit:
            yield
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise _over_time(deadline, position()) from error


def _over_time(deadline: Deadline, position: str) -> StoreTimeout:
    message = f"this plan did not end within {deadline.seconds:g} s: {position}"
    return StoreTimeout(deadline.seconds, message, next_step=_AGAIN)


Part = NodePattern | EdgePattern | Variable
ADVICE = (
    "Make it smaller: a label or a property's value on its first node, WITH ... LIMIT before the next pattern, "
    "a shorter path, or only a count."
)
"""Advice for a plan that is too large."""
_MAX_COMPARED = 10_000_000
"""Maximum comparisons with members of lists in one plan: about half a minute."""
_SHARE_TO_GO_ON = 0.1
"""Share of the plan's time without which it does not go on when a store had too little time for a query."""
_SHORTER = (
    "Create shorter texts and lists: LIMIT before collect, count(x) instead of collect(x), fewer texts joined to one."
)
_LESS_READ = "Read less: WITH ... LIMIT, or a condition that the store tests (=, <, CONTAINS), before the long texts."
_FACT_BYTES = 400
"""Bytes of a triple that was read, beside its text. Measured: 500 of an edge, less of a value of a known node."""
_MAX_TABLE_BYTES = 2 * MAX_BYTES
"""Maximum bytes of the texts and lists in all rows of a table, which share some of them."""
_FEWER = "Compare less: use a shorter list or fewer rows (WITH ... LIMIT), or UNWIND the list and match its members."


@dataclass(slots=True, eq=False)
class Budget:
    """The limits of one evaluation, and its measurements."""

    bound: int
    deadline: Deadline | None = None
    """When the plan must have ended; None if its caller does not limit its time."""
    growth: Growth = field(default_factory=Growth)
    compared: int = 0
    """Values that were compared with members of lists."""
    sizes: dict[Part, Count] = field(default_factory=dict[Part, Count])
    stop: Stop = Stop.COMPLETE
    """The reason why some facts were not read completely; COMPLETE if all were."""
    unmatched: Part | Expression | None = None
    """The first part or condition without a match."""

    def record_size(self, part: Part, size: int) -> None:
        """Record how many nodes or edges matched a part."""
        previous = self.sizes.get(part)
        total = size if previous is None else max(size, previous.value)
        self.sizes[part] = Count(total) if self.stop is Stop.COMPLETE else Count.at_least(total)
        if not size and self.unmatched is None:
            self.unmatched = part

    def record_unmet_condition(self, condition: Expression) -> None:
        """Record that a condition is true for no row."""
        if self.unmatched is None:
            self.unmatched = condition

    def check(self, rows: int, part: Part | None = None) -> None:
        """Check that this many rows may be held at once.

        Raises:
            PlanTooLarge: there are more rows than the bound.
        """
        if rows > self.bound:
            if part is not None:
                self.sizes[part] = Count.at_least(rows)
            raise self.too_large()

    def check_paths(self, rows: int, edges: int, part: EdgePattern) -> None:
        """As `check`; the rows may be paths with this many edges in all.

        Raises:
            PlanTooLarge: there are more rows than the bound, or so many edges that they take as much memory.
        """
        self.check(rows, part)
        if edges > EDGES_PER_ROW * self.bound:
            self.sizes[part] = Count.at_least(rows)
            need = f"paths with more than {EDGES_PER_ROW * self.bound:,} edges"
            raise PlanTooLarge(self.bound, self.part_sizes(), need=need, next_step=ADVICE)

    def make(self, expression: Expression, *values: Value, size: int = 0) -> None:
        """Count the bytes of the texts and lists that an expression creates or joins; `size`: further bytes.

        Raises:
            PlanOverBudget: the plan makes too many bytes, or nests lists too deeply.
        """
        try:
            size += sum(map(size_in_bytes, values))
        except RecursionError as error:
            excess = "nests lists too deeply"
            raise PlanOverBudget(excess, write_part(expression), next_step="Join lists with +: [x] + list.") from error
        if not self.growth.add(size):
            raise _too_many_bytes(write_part(expression))

    def read(self, facts: int, characters: int, part: str) -> None:
        """Count triples that were read for a part of the plan, and the characters of their texts.

        Raises:
            PlanOverBudget: the plan reads too many bytes.
        """
        if not self.growth.add(facts * _FACT_BYTES + characters):
            raise _too_many_bytes(part, next_step=_LESS_READ)

    def compare(self, values: int, expression: Expression) -> None:
        """Count the values that a condition compares in one row.

        Raises:
            PlanOverBudget: the plan compares too many.
        """
        self.compared += values
        if self.compared > _MAX_COMPARED:
            excess = f"compares more than {_MAX_COMPARED:,} values with members of lists"
            raise PlanOverBudget(excess, write_part(expression), next_step=_FEWER)

    def check_time(self) -> None:
        """Check that the deadline has not passed, within work on one row.

        Raises:
            StoreTimeout: it has.
        """
        if self.deadline is not None and monotonic() > self.deadline.at:
            raise _over_time(self.deadline, self.position())

    def check_table(self, table: Table) -> None:
        """Check that a table may be held.

        Raises:
            PlanTooLarge: there are more rows than the bound.
            PlanOverBudget: their texts and lists have too many bytes.
        """
        self.check(len(table.rows))
        self.check_bytes(table.rows, lambda place: table.names[place])

    def check_bytes(self, rows: Sequence[Row], name: Callable[[int], str]) -> None:
        """Check that rows may be held. A list or text counts in each of its rows: all are sorted and compared.

        `name` returns the name of a column for a message.

        Raises:
            PlanOverBudget: the texts and lists of the rows have too many bytes.
        """
        known: dict[int, int] = {}
        total = 0
        for row in rows:
            for place, value in enumerate(row):
                if isinstance(value, tuple):
                    size = known.get(id(value))
                    if size is None:
                        size = known[id(value)] = size_in_bytes(value)
                    total += size
                elif isinstance(value, str):
                    total += len(value)
                if total > _MAX_TABLE_BYTES:
                    raise _too_many_bytes(f"the values of {name(place)} in {len(rows):,} rows", _MAX_TABLE_BYTES)

    def too_large(self) -> PlanTooLarge:
        """The error for more rows than the bound, with the sizes of the parts as far as they are known."""
        return PlanTooLarge(self.bound, self.part_sizes(), next_step=ADVICE)

    def has_time(self) -> bool:
        """Whether enough of the plan's time is left to go on in another way."""
        return self.deadline is None or self.deadline.seconds_left() > _SHARE_TO_GO_ON * self.deadline.seconds

    def record_incomplete(self, stop: Stop) -> None:
        """Record that the store returned only a part."""
        if self.stop is Stop.COMPLETE:
            self.stop = stop

    def count(self, rows: int) -> Count:
        """A number of rows: exact if everything was read, otherwise a lower bound."""
        return Count(rows) if self.stop is Stop.COMPLETE else Count.at_least(rows)

    def part_sizes(self) -> tuple[PartSize, ...]:
        """The sizes of the parts as far as they are known."""
        return tuple(PartSize(write_part(part), count) for part, count in self.sizes.items())

    def progress(self) -> str:
        """A message with the number of parts that were read, and the largest of them."""
        read = known(self.part_sizes())
        largest = max(read, key=lambda size: size.count.value, default=None)
        largest_text = f", the largest {largest.part} {largest.count.value:,}" if largest else ""
        return f"{len(read)} of {len(self.sizes)} parts read{largest_text}"

    def position(self) -> str:
        """The progress of a plan in words, for a time-out: the parts that were read, and the current one."""
        unread = next((part for part, count in self.sizes.items() if count.certainty is Certainty.UNKNOWN), None)
        return f"{self.progress()}, {'computing the rows' if unread is None else f'reading {write_part(unread)}'}"

    def expect(self, match: Match) -> None:
        """Reserve entries for the parts of a pattern, so that sizes come in the order of the plan."""
        for part in (*match.nodes, *match.edges):
            self.sizes.setdefault(part, Count.unknown())


def _too_many_bytes(part: str, limit: int = MAX_BYTES, next_step: str = _SHORTER) -> PlanOverBudget:
    excess = f"reads and creates texts, lists and facts of more than {limit // 1024**2} MB"
    return PlanOverBudget(excess, part, next_step=next_step)


def known(sizes: tuple[PartSize, ...]) -> tuple[PartSize, ...]:
    """The sizes that are not unknown."""
    return tuple(size for size in sizes if size.count.certainty is not Certainty.UNKNOWN)
