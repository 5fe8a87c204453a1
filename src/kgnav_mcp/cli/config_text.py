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
    """The user's choices for a graph. Empty values are left to the adapter.

    `location` has neither user nor password, and is relative to the file if possible.
    """

    name: str
    location: str
    languages: tuple[str, ...] = ("en",)
    contact: str = ""
    user: str = ""
    password_file: str = ""
    options: Mapping[str, object] = field(default_factory=dict[str, object])
    """Options of the store: names, keys, types and the like."""


def config_text(answers: Answers, place: Place, proposals: Proposals | None) -> str:
    """The text of kgnav.toml. Proposals that the user did not choose are comments in it."""
    lines = [
        "# Settings of kgnav-mcp. All of them: kgnav serve --help",
        "# Flags and KGNAV_... variables take precedence over this file.",
        "",
        f"languages = {_value(answers.languages)}  # of names, in order of preference",
    ]
    if answers.contact:
        lines.append(f"contact = {_value(answers.contact)}  # sent to public stores, which ask who runs a program")
    lines += [
        "# row_limit = 1000     # maximum triples in one answer",
        "# budget = 8000        # maximum tokens of one answer",
        '# black_list = ["*"]   # patterns of relations that are never offered',
        "",
        f"[graphs.{answers.name}]",
        f"location = {_value(answers.location)}",
    ]
    if proposals and proposals.labels:
        lines.append(f"# labels: {_clipped(proposals.labels)}")
    lines += _options(answers, place, proposals)
    return "\n".join(lines) + "\n"


def secret_variable(name: str, place: Place) -> str:
    """The environment variable for the password, or for a location that contains one."""
    prefix = f"KGNAV_GRAPHS__{name.upper()}__"
    return f"{prefix}OPTIONS__PASSWORD" if place.kind == "neo4j" else f"{prefix}LOCATION"


def _options(answers: Answers, place: Place, proposals: Proposals | None) -> list[str]:
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
    lines += _proposed(answers, place, proposals) if proposals else []
    return ["", f"[graphs.{answers.name}.options]", *lines] if lines else []


def _proposed(answers: Answers, place: Place, proposals: Proposals) -> list[str]:
    """Commented lines: the adapter's own choices, and keys that only the user can confirm."""
    proposed: list[tuple[str, object, str]] = []
    if place.kind == "sparql":
        proposed = [
            ("labels", proposals.names, "relations that name nodes, the best first"),
            ("descriptions", proposals.descriptions, "relations that describe nodes"),
            ("types", proposals.types, "relations that give a node's classes"),
        ]
    elif place.kind == "neo4j":
        proposed = [("keys", proposals.keys, "if these are unique: ids then survive a reload")]
    return [
        f"# {key} = {_value(value)}  # {meaning}"
        for key, value, meaning in proposed
        if value and key not in answers.options
    ]


def _value(value: object) -> str:
    """A value as TOML: JSON's notation of texts and lists is TOML's, too."""
    if isinstance(value, Mapping):
        items = cast("Mapping[str, object]", value).items()
        members = (f"{json.dumps(key, ensure_ascii=False)} = {_value(member)}" for key, member in items)
        return f"{{ {', '.join(members)} }}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(_value(member) for member in cast('Sequence[object]', value))}]"
    return json.dumps(value, ensure_ascii=False)


def _clipped(parts: Sequence[str]) -> str:
    return ", ".join(" ".join(part.split())[:60] for part in parts)
