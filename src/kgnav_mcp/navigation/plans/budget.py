"""What a plan may hold at once, how large its parts turned out, and what of the graph it could not read."""

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
"""What to do about a plan that is too large."""


@dataclass(slots=True, eq=False)
class Budget:
    """The bound of one evaluation, and the account of it."""

    bound: int
    sizes: dict[Part, Count] = field(default_factory=dict[Part, Count])
    stop: Stop = Stop.COMPLETE
    """Why something could not be read whole; COMPLETE: everything was."""
    nothing_fits: Part | Expression | None = None
    """The first part, or condition, that left no row."""

    def measured(self, part: Part, size: int) -> None:
        """Say how many nodes or edges fitted a part."""
        known = self.sizes.get(part)
        total = size if known is None else max(size, known.value)
        self.sizes[part] = Count(total) if self.stop is Stop.COMPLETE else Count.at_least(total)
        if not size and self.nothing_fits is None:
            self.nothing_fits = part

    def left_nothing(self, condition: Expression) -> None:
        """Say that a condition holds for no row."""
        if self.nothing_fits is None:
            self.nothing_fits = condition

    def check(self, rows: int, part: Part | None = None) -> None:
        """Refuse to hold so many rows at once.

        Raises:
            PlanTooLarge: they are more than the bound.
        """
        if rows > self.bound:
            if part is not None:
                self.sizes[part] = Count.at_least(rows)
            raise PlanTooLarge(self.bound, self.part_sizes(), next_step=ADVICE)

    def cut(self, stop: Stop) -> None:
        """Say that the store gave a part only."""
        if self.stop is Stop.COMPLETE:
            self.stop = stop

    def count(self, rows: int) -> Count:
        """A number of rows, as sure as what was read."""
        return Count(rows) if self.stop is Stop.COMPLETE else Count.at_least(rows)

    def part_sizes(self) -> tuple[PartSize, ...]:
        """The sizes of the parts so far."""
        return tuple(PartSize(write_part(part), count) for part, count in self.sizes.items())

    def expect(self, match: Match) -> None:
        """Keep places for the parts of a pattern, so that they come in the order of the plan."""
        for part in (*match.nodes, *match.edges):
            self.sizes.setdefault(part, Count.unknown())


def known(sizes: tuple[PartSize, ...]) -> tuple[PartSize, ...]:
    """Those of which something is known."""
    return tuple(size for size in sizes if size.count.certainty is not Certainty.UNKNOWN)
