"""Readable validation errors of settings: the source, the key, the reason, the nearest valid key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel, SecretStr, ValidationError

from kgnav_mcp.config.settings import NESTED_SETTINGS, PREFIX, GraphSettings, Settings, value_text
from kgnav_mcp.errors import ConfigurationError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Place = tuple[int | str, ...]

_REASONS = {
    "int_parsing": "this must be a whole number",
    "int_type": "this must be a whole number",
    "int_from_float": "this must be a whole number",
    "float_parsing": "this must be a number",
    "float_type": "this must be a number",
    "bool_parsing": "this must be true or false",
    "bool_type": "this must be true or false",
    "string_type": "this must be text",
    "string_too_short": "this must not be empty",
    "string_pattern_mismatch": "this must be the address of an HTTP or HTTPS server",
    "too_short": "at least one is needed",
    "tuple_type": "this must be a list",
    "dict_type": "this must be a table",
    "model_type": "this must be a table",
    "literal_error": "this must be one of {expected}",
    "greater_than_equal": "this must be {ge:g} or more",
    "greater_than": "this must be more than {gt:g}",
    "less_than_equal": "this must be {le:g} or less",
}
"""Reasons by pydantic's error type."""

_STORE_SETTINGS = " What only this kind of store has goes under `options`."


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources that settings were merged from, to find out where a wrong value was set."""

    flags: Mapping[str, Any]
    environment: Mapping[str, Any]
    file: Path | None

    def name(self, place: Place) -> str:
        """The setting at `place` as the user wrote it: a flag, a variable, or a key of the file."""
        keys = [str(part) for part in place if isinstance(part, str)]
        if _contains(self.flags, keys):
            return "--" + "-".join(keys).replace("_", "-")
        if _contains(self.environment, keys):
            return PREFIX + "__".join(keys).upper()
        return f"{'.'.join(keys)} in {self.file}" if self.file else ".".join(keys)


def configuration_error(error: ValidationError, sources: Sources) -> ConfigurationError:
    """One error that names all wrong values, each with what would be valid."""
    faults = [_fault(fault, sources) for fault in _without_consequences(error.errors())]
    if len(faults) == 1:
        message, step = faults[0]
        return ConfigurationError(message, next_step=step)
    return ConfigurationError(
        "\n".join([f"{len(faults)} settings are wrong:", *(f"- {message}. {step}" for message, step in faults)]),
        next_step="Mend them where they are set; `kgnav serve --help` lists every setting.",
    )


def did_you_mean(word: str, known: Iterable[str], closeness: float = 0.6) -> str:
    """`Did you mean ...?` with the most similar known word; empty if none is similar."""
    matches = get_close_matches(word, list(known), n=1, cutoff=closeness)
    return f"Did you mean {matches[0]}?" if matches else ""


def _without_consequences(faults: list[ErrorDetails]) -> list[ErrorDetails]:
    """The errors without those of lists that are empty only because their values are wrong."""
    lists = {fault["loc"][:-1] for fault in faults}
    return [fault for fault in faults if fault["type"] != "too_short" or fault["loc"] not in lists]


def _fault(fault: ErrorDetails, sources: Sources) -> tuple[str, str]:
    kind, place = fault["type"], fault["loc"]
    model, key = _model_at(place)
    name = sources.name(place)
    if kind == "extra_forbidden":
        step = (
            did_you_mean(key, model.model_fields) or f"The settings here are: {', '.join(sorted(model.model_fields))}."
        )
        return f"{name}: there is no such setting", step + (_STORE_SETTINGS if model is GraphSettings else "")
    if kind == "missing":
        return f"{name} is missing", f"Set it to {model.model_fields[key].description}."
    if place[-1] == "[key]":
        return f"{place[1]!r} cannot be the name of a graph", "A name is a letter, then letters, digits, - and _."
    reason = _REASONS.get(kind, fault["msg"]).format(**fault.get("ctx", {}))
    field = model.model_fields[key]
    default = f" The default is {value_text(field.default)}." if field.default_factory is None else ""
    setting = name if isinstance(field.default, SecretStr) else f"{name} = {fault['input']!r}"
    return f"{setting}: {reason}", f"It means: {field.description}.{default}"


def _model_at(place: Place) -> tuple[type[BaseModel], str]:
    """The settings model to which the key at `place` belongs, and that key."""
    match place:
        case ("graphs", str(), str(key), *_) if key != "[key]":
            return GraphSettings, key
        case (str(table), str(key), *_) if table in NESTED_SETTINGS:
            return NESTED_SETTINGS[table], key
        case _:
            return Settings, str(place[0])


def _contains(source: Mapping[str, Any], keys: list[str]) -> bool:
    value: object = source
    for key in keys:
        if not isinstance(value, Mapping) or key not in value:
            return False
        value = cast("Mapping[str, object]", value)[key]
    return True
