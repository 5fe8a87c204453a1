"""A configuration file of another program: read, edited in memory, and replaced atomically, with a backup."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, cast

from kgnav_mcp.errors import ConfigurationError

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


_BOM = "\ufeff"


class ConfigFile:
    """The file as it is, and the edits that are not written yet.

    Raises:
        ConfigurationError: the file is there and cannot be read, or is not valid in its syntax. It is not changed.
    """

    def __init__(self, path: Path, syntax: ConfigSyntax) -> None:
        self.path = path
        self.syntax = syntax
        self._original = self._read()
        self._text = self._original.removeprefix(_BOM).replace("\r\n", "\n")
        self._values = self._parse(self._text)

    @property
    def backup(self) -> Path:
        """The copy of the file as it was before its first change."""
        return self.path.with_name(f"{self.path.name}.before-kgnav")

    def value(self, path: KeyPath) -> object:
        """The value at a path of keys; None if there is none.

        Raises:
            ConfigurationError: a key on the way has a value that is not a table.
        """
        value: object = self._values
        for depth, key in enumerate(path):
            if value is None and depth:
                return None
            if not isinstance(value, dict):
                raise ConfigurationError(
                    f"{'.'.join(path[:depth])} in {self.path} is not a table of keys; nothing was changed",
                    next_step="Correct it there, then run this command again.",
                )
            value = cast("dict[str, object]", value).get(key)
        return value

    def merge(self, path: KeyPath, values: Mapping[str, object], obsolete: frozenset[str]) -> bool:
        """Set the keys of a table, remove those of `obsolete` that are not wanted, and keep all others.

        Returns whether anything changes.
        """
        present = self.value(path)
        if not isinstance(present, dict):
            self._edit(path, dict(values), lambda text: self.syntax.with_value(text, path, dict(values)))
            return True
        table = cast("dict[str, object]", present)
        for key in [key for key in table if key in obsolete and key not in values]:
            self._edit([*path, key], None, lambda text, key=key: self.syntax.without(text, [*path, key]))
        changed = any(key in obsolete and key not in values for key in table)
        for key, value in values.items():
            new = _merged(table.get(key), value)
            if table.get(key) != new:
                changed = True
                place = [*path, key]
                self._edit(place, new, lambda text, place=place, new=new: self.syntax.with_value(text, place, new))
        return changed

    def remove(self, path: KeyPath) -> bool:
        """Remove a key. Returns whether it was there."""
        if self.value(path) is None:
            return False
        self._edit(path, None, lambda text: self.syntax.without(text, path))
        return True

    def write(self) -> None:
        """Replace the file atomically by its edited text. Before the first change it is copied to the backup.

        Raises:
            ConfigurationError: it cannot be written.
        """
        text = self._text.replace("\n", "\r\n") if "\r\n" in self._original else self._text
        if self._original.startswith(_BOM):
            text = _BOM + text
        target = self.path.resolve()  # a link stays a link
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists() and not self.backup.exists():
                shutil.copy2(target, self.backup)
            _replace(target, text)
        except OSError as error:
            raise ConfigurationError(
                f"{self.path} cannot be written: {error.strerror}", next_step="Check the permissions of its folder."
            ) from error

    def _read(self) -> str:
        try:
            return self.path.read_bytes().decode("utf-8")
        except FileNotFoundError:
            return ""
        except UnicodeDecodeError as error:
            raise ConfigurationError(
                f"{self.path} is not UTF-8 at byte {error.start}; nothing was changed",
                next_step="Save it as UTF-8, then run this command again.",
            ) from error
        except OSError as error:
            raise ConfigurationError(
                f"{self.path} cannot be read: {error.strerror}", next_step="Check its permissions."
            ) from error

    def _parse(self, text: str) -> dict[str, Any]:
        try:
            return self.syntax.parse(text)
        except SyntaxProblem as problem:
            raise ConfigurationError(
                f"{self.path}, line {problem.line}: not valid {self.syntax.name}: {problem.reason}; "
                "nothing was changed",
                next_step="Correct that line, then run this command again.",
            ) from problem

    def _edit(self, path: KeyPath, value: object, edit: Callable[[str], str]) -> None:
        """Apply an edit, and check that it changed what it should and nothing else."""
        text = edit(self._text)
        try:
            values = self.syntax.parse(text)
        except SyntaxProblem:
            values = None
        expected = _edited(self._values, path, value)
        if values is None or _with_table(values, path[0]) != _with_table(expected, path[0]):
            raise ConfigurationError(
                f"{self.path} is written in a way that this command cannot edit; nothing was changed",
                next_step=f"Edit {'.'.join(path)} there by hand; --dry-run prints the entry.",
            )
        self._text, self._values = text, values


def _merged(old: object, new: object) -> object:
    """The new value; of two tables, such as those of variables, one with the keys of both."""
    if isinstance(old, dict) and isinstance(new, dict):
        return {**cast("dict[str, object]", old), **cast("dict[str, object]", new)}
    return new


def _with_table(values: Mapping[str, Any], table: str) -> dict[str, Any]:
    """The values with a table that is missing where it is empty: TOML has no sign of one."""
    return {**values, table: values.get(table) or {}}


def _edited(values: Mapping[str, Any], path: KeyPath, value: object) -> dict[str, Any]:
    """The values with one set, or removed if it is None."""
    result = dict(values)
    key = path[0]
    if len(path) > 1:
        result[key] = _edited(result.get(key) or {}, path[1:], value)
    elif value is None:
        del result[key]
    else:
        result[key] = value
    return result


def _replace(target: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
