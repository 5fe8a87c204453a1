"""What a load reports in addition to its counts: bad lines, notes and warnings."""

from __future__ import annotations

from kgnav_mcp.errors import BadLine

LISTED = 150
"""Characters of names that a note or a warning lists."""

MAX_LISTED = 20
"""Bad lines listed in the report; further ones are only counted."""


class LoadProblems:
    """Collects bad lines, notes and warnings. Notes and warnings have no full stop at the end."""

    def __init__(self, *, skip_bad: bool) -> None:
        self.skip_bad = skip_bad
        self.bad_lines = 0
        self.first_bad_lines: list[BadLine] = []
        self.notes: list[str] = []
        """How ambiguous sources were read."""
        self.warnings: list[str] = []
        """Likely mistakes of the user."""

    def reject(self, source: str, line: int | None, reason: str, mend: str = "Mend the line") -> None:
        """Counts a bad line. `mend` is advice on how to repair it.

        Raises:
            BadLine: bad lines are not skipped.
        """
        if not self.skip_bad:
            raise BadLine(source, line, reason, next_step=f"{mend}, or load with --skip-bad to leave it out.")
        self.bad_lines += 1
        if len(self.first_bad_lines) < MAX_LISTED:
            self.first_bad_lines.append(BadLine(source, line, reason))
