"""Writes a commented kgnav.toml for one graph."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from kgnav_mcp.cli.graph_places import Place

if TYPE_CHECKING:
    from kgnav_mcp.cli.proposals import Proposals


@dataclass(frozen=True, slots=True)
class Answers:
    """What the user chose for a graph. Empty values are left to the adapter.

    `location` is the one to write: without user and password, relative to the file where it can be.
    """

    name: str
    location: str
    languages: tuple[str, ...] = ("en",)
    contact: str = ""
    user: str = ""
    password_file: str = ""
    options: Mapping[str, object] = field(default_factory=dict[str, object])
    """Options of the store: names, keys, types and the like."""


def config_text(answers: Answers, place: Place, found: Proposals | None) -> str:
    """The text of kgnav.toml. What was found and not chosen stands in it as a comment."""
    lines = [
        "# Settings of kgnav-mcp. All of them: kgnav serve --help",
        "# A flag or a variable KGNAV_... stands above this file.",
        "",
        f"languages = {_value(answers.languages)}  # of names, in order of preference",
    ]
    if answers.contact:
        lines.append(f"contact = {_value(answers.contact)}  # told to public stores that ask who runs a program")
    lines += [
        "# row_limit = 1000     # triples that one answer holds at most",
        "# budget = 8000        # tokens that one answer may take",
        '# black_list = ["*"]   # patterns of relations that are never offered',
        "",
        f"[graphs.{answers.name}]",
        f"location = {_value(answers.location)}",
    ]
    if found and found.labels:
        lines.append(f"# labels: {_clipped(found.labels)}")
    lines += _options(answers, place, found)
    return "\n".join(lines) + "\n"


def secret_variable(name: str, place: Place) -> str:
    """The variable that holds what must not be in the file: the password, or a location with one."""
    prefix = f"KGNAV_GRAPHS__{name.upper()}__"
    return f"{prefix}OPTIONS__PASSWORD" if place.kind == "neo4j" else f"{prefix}LOCATION"


def _options(answers: Answers, place: Place, found: Proposals | None) -> list[str]:
    lines: list[str] = []
    if place.kind == "neo4j":
        if answers.user:
            lines.append(f"user = {_value(answers.user)}")
        if answers.password_file:
            lines.append(f"password_file = {_value(answers.password_file)}")
        else:
            lines.append(f"# the password: variable {secret_variable(answers.name, place)}, or password_file")
    elif place.has_password:
        lines.append(f"# the password: variable {secret_variable(answers.name, place)}, with the whole location")
    lines += [f"{key} = {_value(value)}" for key, value in answers.options.items()]
    lines += _proposed(answers, place, found) if found else []
    return ["", f"[graphs.{answers.name}.options]", *lines] if lines else []


def _proposed(answers: Answers, place: Place, found: Proposals) -> list[str]:
    """Commented lines of what the adapter uses anyway, or of what only the user can confirm."""
    proposed: list[tuple[str, object, str]] = []
    if place.kind == "sparql":
        proposed = [
            ("labels", found.names, "relations that name nodes, the best first"),
            ("descriptions", found.descriptions, "relations that describe nodes"),
            ("types", found.types, "relations that give a node's classes"),
        ]
    elif place.kind == "neo4j":
        proposed = [("keys", found.keys, "if these are unique: ids stay the same after a reload")]
    return [
        f"# {key} = {_value(value)}  # {meaning}"
        for key, value, meaning in proposed
        if value and key not in answers.options
    ]


def _value(value: object) -> str:
    """A value as TOML: JSON's notation of texts and lists is TOML's, too."""
    if isinstance(value, Mapping):
        items = cast("Mapping[str, object]", value).items()
        members = (f"{json.dumps(key, ensure_ascii=False)} = {_value(each)}" for key, each in items)
        return f"{{ {', '.join(members)} }}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(_value(each) for each in cast('Sequence[object]', value))}]"
    return json.dumps(value, ensure_ascii=False)


def _clipped(parts: Sequence[str]) -> str:
    return ", ".join(" ".join(part.split())[:60] for part in parts)
