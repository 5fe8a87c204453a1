"""The limit of rows that a plan may hold, the sizes of its parts, and whether some facts could not be read."""

from __future__ import annotations

from dataclasses import dataclass, field

from kgnav_mcp.errors import PlanTooLarge
from kgnav_mcp.model import Certainty, Count, PartSize, Stop
from kgnav_mcp.plan import EdgePattern, Expression, Match, NodePattern
from kgnav_mcp.spelling.cypher import write_part

Part = NodePattern | EdgePattern
ADVICE = (
    "Make it smaller: a label or a property's value on the node that it begins with, a limit before the next pattern "
    "(WITH ... LIMIT), or fewer steps of a path. A count that needs no single row may be asked by itself."
)
"""Advice for a plan that is too large."""


@dataclass(slots=True, eq=False)
class Budget:
    """The bound of one evaluation, and what was measured during it."""

    bound: int
    sizes: dict[Part, Count] = field(default_factory=dict[Part, Count])
    stop: Stop = Stop.COMPLETE
    """Why something could not be read completely; COMPLETE if everything was."""
    nothing_fits: Part | Expression | None = None
    """The first part or condition that left no rows."""

    def measured(self, part: Part, size: int) -> None:
        """Record how many nodes or edges matched a part."""
        previous = self.sizes.get(part)
        total = size if previous is None else max(size, previous.value)
        self.sizes[part] = Count(total) if self.stop is Stop.COMPLETE else Count.at_least(total)
        if not size and self.nothing_fits is None:
            self.nothing_fits = part

    def record_unmet_condition(self, condition: Expression) -> None:
        """Record that a condition is true for no row."""
        if self.nothing_fits is None:
            self.nothing_fits = condition

    def check(self, rows: int, part: Part | None = None) -> None:
        """Check that this many rows may be held at once.

        Raises:
            PlanTooLarge: there are more rows than the bound.
        """
        if rows > self.bound:
            if part is not None:
                self.sizes[part] = Count.at_least(rows)
            raise self.too_large()

    def too_large(self) -> PlanTooLarge:
        """The error for more rows than the bound, with the sizes of the parts as far as they are known."""
        return PlanTooLarge(self.bound, self.part_sizes(), next_step=ADVICE)

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

    def expect(self, match: Match) -> None:
        """Reserve entries for the parts of a pattern, so that sizes come in the order of the plan."""
        for part in (*match.nodes, *match.edges):
            self.sizes.setdefault(part, Count.unknown())


def known(sizes: tuple[PartSize, ...]) -> tuple[PartSize, ...]:
    """The sizes that are not unknown."""
    return tuple(size for size in sizes if size.count.certainty is not Certainty.UNKNOWN)
