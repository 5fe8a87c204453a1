"""The texts of prompts: templates with placeholders, this project's own or files of a researcher's folder.

A placeholder is a name in braces, such as `{question}`. Other braces are text, also those of JSON; `{{question}}` is
the text `{question}`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from rapidfuzz import process

from kgnav_mcp.clipping import comma_list, echoed
from kgnav_mcp.errors import ConfigurationError

PLACEHOLDERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "question": "the question; at the end of a text that has no such place",
        "topic_entities": "the entities that the question is about, with their ids",
        "schema": "the schema of the graph",
        "examples": "the examples on the graph, as --shots says",
        "system_time": "date and time of the call (UTC)",
    }
)
"""The placeholders of a prompt's text, and what stands in their place."""

_PLACEHOLDER = re.compile(r"\{\{([a-z][a-z_]*)\}\}|\{ *([a-z][a-z_]*) *\}")
_SUFFIXES = (".md", ".txt")
_LONGEST_LIST = 300


def placeholders(template: str) -> set[str]:
    """The names of the placeholders in a text."""
    return {found[2] for found in _PLACEHOLDER.finditer(template) if found[2]}


def filled(template: str, values: Mapping[str, str]) -> str:
    """The text with values in place of its placeholders."""
    return _PLACEHOLDER.sub(lambda found: values[found[2]] if found[2] else f"{{{found[1]}}}", template)


def read_texts(folder: str, names: Collection[str]) -> Mapping[str, str]:
    """The texts of a folder by the name of the prompt that each replaces: `FOLDER/NAME.md` or `FOLDER/NAME.txt`.

    Hidden files and folders are ignored.

    Raises:
        ConfigurationError: the folder or a file cannot be read, a file has the name of no prompt, two have the same, or
            a text has an unknown placeholder.
    """
    try:
        files = sorted(file for file in Path(folder).iterdir() if not file.name.startswith(".") and file.is_file())
        texts = [(file, file.read_text(encoding="utf-8")) for file in files if _is_text_of(file, names)]
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "a file is not UTF-8 text"
        raise ConfigurationError(
            f"the prompts in {echoed(folder)} cannot be read: {reason}",
            next_step="Give --prompts a folder with texts such as search_on_graph.md.",
        ) from error
    found: dict[str, str] = {}
    for file, text in texts:
        if file.stem in found:
            raise ConfigurationError(
                f"{file.stem} has two texts in {folder}", next_step=f"Keep {file.name} or the other."
            )
        if not text.strip():
            raise ConfigurationError(f"{file} is empty", next_step="Write the prompt there, or remove the file.")
        for unknown in sorted(placeholders(text) - PLACEHOLDERS.keys()):
            shown = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
            raise ConfigurationError(
                f"{file} has the unknown placeholder {{{unknown}}}{_nearest(unknown, PLACEHOLDERS, '{{{}}}')}",
                next_step=f"There are {shown}. For the text itself write {{{{{unknown}}}}}.",
            )
        found[file.stem] = text.strip()
    return found


def _is_text_of(file: Path, names: Collection[str]) -> bool:
    """Whether a file is the text of a prompt.

    Raises:
        ConfigurationError: it is not.
    """
    if file.suffix in _SUFFIXES and file.stem in names:
        return True
    raise ConfigurationError(
        f"{file} is the text of no prompt{_nearest(file.stem, names, '{}.md')}",
        next_step=f"Name it after one, with .md or .txt: {comma_list([*names], _LONGEST_LIST)}.",
    )


def _nearest(name: str, names: Collection[str], form: str) -> str:
    found = process.extractOne(name[:100], list(names))
    return f"; the nearest is {form.format(found[0])}" if found else ""
