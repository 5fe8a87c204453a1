"""What an editor of one syntax does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

KeyPath = Sequence[str]
"""The keys that lead from the root to a value."""


class SyntaxProblem(ValueError):
    """A text that is not valid in its syntax. `line` counts from 1."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


class ConfigSyntax(Protocol):
    """Reads and edits texts of one syntax whose root is a table of keys. An empty text is an empty table."""

    name: str

    def parse(self, text: str) -> dict[str, Any]:
        """The values of a text.

        Raises:
            SyntaxProblem: the text is not valid, or its root is not a table.
        """
        ...

    def with_value(self, text: str, path: KeyPath, value: object) -> str:
        """The text with `value` at `path`, whose tables are made where they are missing."""
        ...

    def without(self, text: str, path: KeyPath) -> str:
        """The text without the key at `path`, which must be there."""
        ...
