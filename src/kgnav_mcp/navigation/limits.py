"""What a call reads and shows at most: the thresholds of the papers, and which relations GraphWalker's tools offer."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of what is read and shown. The defaults are the papers'."""

    hub_threshold: int = 50
    """k: an entity with more neighbours in one direction is a hub and collapses to its relations (SoG, Algorithm 1)."""
    row_limit: int = 1000
    """p: maximum triples in one answer (SoG, Algorithm 1)."""
    characters: int | None = None
    """Characters of triples in one answer: reading stops when they are used up. None: only `row_limit` applies."""
    top_k: int = 20
    """Relations shown at once when a question ranks them (GraphWalker's best of 10, 15, 20 and 30)."""
    examples: int = 2
    """Far ends shown with each relation of a hub."""
    relation_limit: int = 20_000
    """Distinct relations that are read of one entity: more than any known schema has."""
    relations_per_direction: int | None = None
    """Relations that GraphWalker's tools read of an entity in each direction; None: all."""
    collapse_single: bool = False
    """Whether a hub with a single relation collapses to a list of one relation, as in the paper. False: its rows."""
    flatten: bool = True
    """Whether mediators are flattened. False: they are nodes like any other, as in Search-on-Graph and GraphWalk."""
    white_list: tuple[str, ...] = ()
    """Glob patterns of relation ids; if there are any, GraphWalker's tools offer only relations that match."""
    black_list: tuple[str, ...] = ()
    """Glob patterns of relation ids that GraphWalker's tools never offer."""
    default_black_list: tuple[str, ...] = ()
    """Glob patterns of the black-list that ships with the server; it is not applied if there is a white-list."""
    default_exceptions: tuple[str, ...] = ()
    """Glob patterns of relation ids that `default_black_list` does not apply to."""

    def offers(self, relation: str) -> bool:
        """Whether the white-list and black-lists allow a relation.

        The patterns match the id, which is `rel1.rel2` for a flattened relation. The black-list is applied first, then
        the white-list; the default black-list only if there is no white-list.
        """
        if _matches(relation, self.black_list):
            return False
        if self.white_list:
            return _matches(relation, self.white_list)
        return not _matches(relation, self.default_black_list) or _matches(relation, self.default_exceptions)


def _matches(relation: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(relation, pattern) for pattern in patterns)
