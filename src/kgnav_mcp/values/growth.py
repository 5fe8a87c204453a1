"""The bytes of the texts and lists that a plan makes, from the values of the graph and from its constants."""

from __future__ import annotations

from dataclasses import dataclass

MOST_BYTES = 256 * 1024**2
"""Bytes that one plan may make. A plan that joins a text with itself 60 times would make 2^60 times as many."""


@dataclass(slots=True, eq=False)
class Growth:
    """Counts bytes, where possible before they are made. Copies that are dropped again count as well."""

    limit: int = MOST_BYTES
    made: int = 0

    def add(self, size: int) -> bool:
        """Count a text or list of this many bytes. False: it is more than the plan may make."""
        self.made += size
        return self.made <= self.limit
