"""What a load reports besides its counts: bad lines, notes and warnings."""

from __future__ import annotations

from kgnav_mcp.errors import BadLine

KEPT = 20
"""So many bad lines are kept for the report; the rest are only counted."""


class Findings:
    """Bad lines end a load at the first one, or are left out and counted. Notes and warnings lack a full stop."""

    def __init__(self, *, skip_bad: bool) -> None:
        self.skip_bad = skip_bad
        self.bad_lines = 0
        self.first_bad_lines: list[BadLine] = []
        self.notes: list[str] = []
        """How sources were read that could be read in two ways."""
        self.warnings: list[str] = []
        """Likely mistakes of the user."""

    def reject(self, source: str, line: int | None, reason: str, mend: str = "Mend the line") -> None:
        """Count a bad line. `mend` is what to do about it, besides leaving it out.

        Raises:
            BadLine: bad lines are not to be skipped.
        """
        if not self.skip_bad:
            raise BadLine(source, line, reason, next_step=f"{mend}, or load with --skip-bad to leave it out.")
        self.bad_lines += 1
        if len(self.first_bad_lines) < KEPT:
            self.first_bad_lines.append(BadLine(source, line, reason))
