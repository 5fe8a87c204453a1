"""What is wrong with this installation, or with the sources that it is to load."""

from __future__ import annotations

from kgnav_mcp.errors.base import KgnavError


class ConfigurationError(KgnavError):
    """Settings, files or packages of this installation are wrong."""


class MissingDriver(ConfigurationError):
    """A package that a store or a ranker needs is not installed; `requirement` brings it, as pip reads it."""

    def __init__(self, needed_by: str, requirement: str) -> None:
        super().__init__(
            f"a package that {needed_by} needs is not installed", next_step=f"Run: pip install '{requirement}'"
        )
        self.requirement = requirement


class LoadError(KgnavError):
    """A source could not be loaded."""


_LONGEST_REASON = 200
"""Characters of what a parser says of a line."""


class BadLine(LoadError):
    """One line of a source is wrong. `line` counts from 1; None where the parser did not say."""

    def __init__(self, source: str, line: int | None, reason: str, *, next_step: str = "") -> None:
        reason = " ".join(reason.split())  # a parser quotes what it did not expect, which may go on for pages
        reason = reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]} ..."
        place = f"{source}:{line}" if line is not None else source
        super().__init__(f"{place}: {reason}", next_step=next_step)
        self.source = source
        self.line = line
        self.reason = reason

    def __reduce__(self) -> tuple[object, ...]:
        """It comes from a process of its own where that parses, and must arrive as it was raised."""
        return type(self), (self.source, self.line, self.reason), self.__dict__
