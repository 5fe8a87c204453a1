"""The papers' thresholds, as one value that every algorithm is given."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is read and shown. The defaults are the papers'."""

    hub: int = 50
    """k: an entity with more neighbours in one direction is a hub and collapses to its relations (SoG, Algorithm 1)."""
    rows: int = 1000
    """p: triples one answer holds at most (SoG, Algorithm 1)."""
    ranked: int = 20
    """Relations kept when a question ranks them (GraphWalker's best of 10, 15, 20 and 30)."""
    examples: int = 2
    """Far ends shown with each relation of a hub."""
    relations: int = 20_000
    """Distinct relations read of one entity: a bound against runaway stores, beyond any known schema."""
    white_list: tuple[str, ...] = ()
    """Glob patterns of relation ids; where there are any, GraphWalker's tools offer nothing else."""
    black_list: tuple[str, ...] = ()
    """Glob patterns of relation ids that GraphWalker's tools never offer."""

    def offers(self, relation: str) -> bool:
        """Whether the white-list and the black-list let a relation be offered."""
        if self.white_list and not any(fnmatchcase(relation, pattern) for pattern in self.white_list):
            return False
        return not any(fnmatchcase(relation, pattern) for pattern in self.black_list)
