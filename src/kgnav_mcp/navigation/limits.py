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
    room: int | None = None
    """Characters that an answer has for its triples: no more are read than may fit; None: as many as `rows` allows."""
    ranked: int = 20
    """Relations kept when a question ranks them (GraphWalker's best of 10, 15, 20 and 30)."""
    examples: int = 2
    """Far ends shown with each relation of a hub."""
    relations: int = 20_000
    """Distinct relations read of one entity: a bound against runaway stores, beyond any known schema."""
    collapse_single: bool = False
    """Whether a hub of a single relation is shown as a list of one, too, as in the paper, and not by its rows."""
    white_list: tuple[str, ...] = ()
    """Glob patterns of relation ids; where there are any, GraphWalker's tools offer nothing else."""
    black_list: tuple[str, ...] = ()
    """Glob patterns of relation ids that GraphWalker's tools never offer."""
    housekeeping: tuple[str, ...] = ()
    """Glob patterns of a shipped black-list; unlike the user's own it yields to any white-list."""
    kept: tuple[str, ...] = ()
    """Glob patterns of relation ids that the shipped black-list does not reach."""

    def offers(self, relation: str) -> bool:
        """Whether the lists let a relation be offered.

        A flattened relation is judged by its own id, `rel1.rel2`. What the user lists comes first: the black-list,
        then the white-list; only where there is no white-list is the shipped list asked.
        """
        if _matches(relation, self.black_list):
            return False
        if self.white_list:
            return _matches(relation, self.white_list)
        return not _matches(relation, self.housekeeping) or _matches(relation, self.kept)


def _matches(relation: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(relation, pattern) for pattern in patterns)
