"""Edits TOML with tomlkit, which keeps comments and layout."""

from __future__ import annotations

import re
import tomllib
from collections.abc import MutableMapping
from typing import Any, cast

from kgnav_mcp.cli.config_files.file import KeyPath, SyntaxProblem


class TomlText:
    """TOML, as Codex reads it."""

    name = "TOML"

    def parse(self, text: str) -> dict[str, Any]:
        """See `ConfigSyntax.parse`."""
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            match = re.search(r"line (\d+)", str(error))
            raise SyntaxProblem(str(error), int(match[1]) if match else text.count("\n") + 1) from error

    def with_value(self, text: str, path: KeyPath, value: object) -> str:
        """See `ConfigSyntax.with_value`."""
        import tomlkit  # noqa: PLC0415 - only `kgnav install` edits files

        document = tomlkit.parse(text)
        table = cast("MutableMapping[str, Any]", document)
        for key in path[:-1]:
            if key not in table:
                table[key] = tomlkit.table(is_super_table=True)
            table = table[key]
        table[path[-1]] = value
        result = tomlkit.dumps(document)
        return result if not result or result.endswith("\n") else result + "\n"

    def without(self, text: str, path: KeyPath) -> str:
        """See `ConfigSyntax.without`."""
        import tomlkit  # noqa: PLC0415 - as above

        document = tomlkit.parse(text)
        table = cast("MutableMapping[str, Any]", document)
        for key in path[:-1]:
            table = table[key]
        del table[path[-1]]
        return tomlkit.dumps(document)
