"""Errors of this installation, and of sources that are loaded."""

from __future__ import annotations

from kgnav_mcp.clipping import clipped
from kgnav_mcp.errors.base import KgnavError


class ConfigurationError(KgnavError):
    """Settings, files or packages of this installation are wrong."""


class MissingDriver(ConfigurationError):
    """A package that a store or a ranker needs is not installed. `requirement` is the requirement for pip."""

    def __init__(self, needed_by: str, requirement: str) -> None:
        super().__init__(
            f"a package that {needed_by} needs is not installed", next_step=f"Run: pip install '{requirement}'"
        )
        self.requirement = requirement


_LONGEST_MESSAGE = 350
"""Characters of a message that may quote a source."""


class LoadError(KgnavError):
    """A source could not be loaded. A long message is cut."""

    def __init__(self, message: str, *, next_step: str = "") -> None:
        super().__init__(clipped(message, _LONGEST_MESSAGE), next_step=next_step)


_LONGEST_NAME = 100
"""Characters of a source's name before such a message."""

_LONGEST_REASON = 200
"""Characters of a parser's message about a line that are shown."""


class BadLine(LoadError):
    """One line of a source is wrong. `line` counts from 1; None if the parser did not say."""

    def __init__(self, source: str, line: int | None, reason: str, *, next_step: str = "") -> None:
        reason = " ".join(reason.split())  # a parser quotes the unexpected input, which may be very long
        reason = reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]} ..."
        place = f"{clipped(source, _LONGEST_NAME)}:{line}" if line is not None else clipped(source, _LONGEST_NAME)
        super().__init__(f"{place}: {reason}", next_step=next_step)
        self.source = source
        self.line = line
        self.reason = reason

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle all fields: the error may be raised in another process that parses."""
        return type(self), (self.source, self.line, self.reason), self.__dict__
