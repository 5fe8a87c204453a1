"""Bad lines: fatal at the first one, or skipped, counted and some of them kept."""

from __future__ import annotations

from kgnav_mcp.errors import BadLine

KEPT = 20
"""So many bad lines are kept for the report; the rest are only counted."""


class Rejects:
    """Takes every bad line of a load."""

    def __init__(self, *, skip_bad: bool) -> None:
        self.skip_bad = skip_bad
        self.count = 0
        self.first: list[BadLine] = []

    def add(self, source: str, line: int | None, reason: str, mend: str = "Mend the line") -> None:
        """Count a bad line. `mend` is what to do about it, besides leaving it out.

        Raises:
            BadLine: bad lines are not to be skipped.
        """
        if not self.skip_bad:
            raise BadLine(source, line, reason, next_step=f"{mend}, or load with --skip-bad to leave it out.")
        self.count += 1
        if len(self.first) < KEPT:
            self.first.append(BadLine(source, line, reason))
