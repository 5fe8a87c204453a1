"""Reads settings from flags, environment and kgnav.toml, chooses the graphs to serve, and reports what is invalid."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from pydantic import BaseModel, SecretStr, ValidationError

from kgnav_mcp.config.settings import (
    DEMO_LOCATION,
    NESTED_SETTINGS,
    PREFIX,
    GraphSettings,
    Settings,
    describe_settings,
    split_commas,
    value_text,
)
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

_STORE_SETTINGS = " Settings of this kind of store go under `options`."


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
        next_step="Correct them where they are set. `kgnav serve --help` lists every setting.",
    )


def did_you_mean(word: str, words: Iterable[str], closeness: float = 0.6) -> str:
    """`Did you mean ...?` with the most similar known word; empty if none is similar."""
    matches = get_close_matches(word, list(words), n=1, cutoff=closeness)
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
        return f"{place[1]!r} is not a valid name of a graph", "A name is a letter, then letters, digits, - and _."
    reason = _REASONS.get(kind, fault["msg"]).format(**fault.get("ctx", {}))
    field = model.model_fields[key]
    default = f" The default is {value_text(field.default)}." if field.default_factory is None else ""
    setting = name if isinstance(field.default, SecretStr) else f"{name} = {fault['input']!r}"
    return f"{setting}: {reason}", f"Meaning: {field.description}.{default}"


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


_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_STORE_IN_FILE = re.compile(r"[A-Za-z][A-Za-z0-9.-]*\+file:(?!//)")
"""The scheme of a store that is a file, followed by its path."""


def choose_graphs(choices: Sequence[str], configured: Mapping[str, Any], file: Path | None) -> dict[str, Any]:
    """The chosen graphs in order, each with its unvalidated settings.

    Args:
        choices: names in `configured`, locations, or NAME=LOCATION.
        configured: the configured graphs by name, not yet validated.
        file: the configuration file, for the error message.

    Raises:
        ConfigurationError: neither a known name nor a file, or two graphs with the same name.
    """
    chosen: dict[str, Any] = {}
    for text in choices:
        name, graph = _parse_choice(text, configured, file)
        if name in chosen:
            raise ConfigurationError(
                f"two graphs have the name {name!r}", next_step="Give them different names: --graph NAME=LOCATION."
            )
        chosen[name] = graph
    return chosen


def _parse_choice(text: str, configured: Mapping[str, Any], file: Path | None) -> tuple[str, Any]:
    name, equals, location = text.partition("=")
    if equals and _NAME.fullmatch(name):
        return name, {"location": resolve_location(location, Path())}
    if text in configured:
        return text, configured[text]
    if text != DEMO_LOCATION and _NAME.fullmatch(text) and not Path(text).exists():
        raise ConfigurationError(
            f"unknown graph {text!r}: neither a graph of {file or 'a kgnav.toml'} nor an existing file",
            next_step=did_you_mean(text, configured) or "Give --graph a path, a URL of a store, or NAME=LOCATION.",
        )
    return _default_name(text), {"location": resolve_location(text, Path())}


def resolve_location(location: str, folder: Path) -> str:
    """The location, with a relative path resolved from `folder`. URLs and `demo` are unchanged."""
    if not location or location == DEMO_LOCATION or _URL.match(location):
        return location
    scheme = _scheme_of_file(location)
    return scheme + str(folder / Path(location.removeprefix(scheme)).expanduser())


def _scheme_of_file(location: str) -> str:
    """`ladybug+file:` before the path of a store that is a file, otherwise nothing."""
    match = _STORE_IN_FILE.match(location)
    return match[0] if match is not None else ""


def _default_name(location: str) -> str:
    """A valid graph name made from the stem of a path or the host of a URL."""
    base = (
        (urlsplit(location).hostname or "")
        if _URL.match(location)
        else Path(location.removeprefix(_scheme_of_file(location))).stem
    )
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", base).strip("_")
    return name if _NAME.fullmatch(name) else f"graph_{name}".rstrip("_")


_CONFIG = f"{PREFIX}CONFIG"
_GRAPH = f"{PREFIX}GRAPH"
_DEBUG = f"{PREFIX}DEBUG"
_NESTED = tuple(f"{PREFIX}{table}__".upper() for table in ("graphs", *NESTED_SETTINGS))
"""Prefixes of the variables of nested settings. Validation of the settings checks these variables."""


def load_settings(
    flags: Mapping[str, Any] | None = None, *, graphs: Sequence[str] = (), config_file: Path | None = None
) -> Settings:
    """Merge flags, environment, file and defaults.

    Args:
        flags: values from the command line, nested as in `Settings`.
        graphs: values of `--graph`, each NAME, LOCATION or NAME=LOCATION.
        config_file: value of `--config`.

    Raises:
        ConfigurationError: values are wrong (it names all of them), or the file cannot be read.
    """
    flags = flags or {}
    path = find_config_file(config_file)
    environment = _read_environment()
    merged = _merge(_merge(_read_file(path) if path else {}, environment), flags)
    chosen_graphs = graphs or graphs_from_environment()
    configured: object = merged.get("graphs", {})
    if chosen_graphs and isinstance(configured, dict):
        merged["graphs"] = choose_graphs(chosen_graphs, cast("dict[str, Any]", configured), path)
    try:
        return Settings(**merged)
    except ValidationError as error:
        raise configuration_error(error, Sources(flags=flags, environment=environment, file=path)) from error


def graphs_from_environment() -> list[str]:
    """The graphs to serve that KGNAV_GRAPH names, each NAME, LOCATION or NAME=LOCATION."""
    return cast("list[str]", split_commas(os.environ.get(_GRAPH, "")))


def configured_graph_names(config_file: Path | None = None) -> tuple[str, ...]:
    """The names of the graphs of the configuration file and of KGNAV_GRAPHS__* variables, chosen or not.

    Raises:
        ConfigurationError: the file cannot be read.
    """
    path = find_config_file(config_file)
    graphs: object = _merge(_read_file(path) if path else {}, _read_environment()).get("graphs")
    return tuple(cast("dict[str, object]", graphs)) if isinstance(graphs, dict) else ()


def find_config_file(named: Path | None = None) -> Path | None:
    """The configuration file in use; None if there is none.

    Raises:
        ConfigurationError: the named file does not exist.
    """
    explicit = named or (Path(value) if (value := os.environ.get(_CONFIG)) else None)
    if explicit is None:
        places = (Path("kgnav.toml"), _user_folder("XDG_CONFIG_HOME", ".config") / "kgnav" / "kgnav.toml")
        return next((place for place in places if place.is_file()), None)
    if not explicit.is_file():
        raise ConfigurationError(
            f"there is no configuration file {explicit}",
            next_step=f"Name an existing file with --config or {_CONFIG}, or leave both out.",
        )
    return explicit


def user_cache_folder() -> Path:
    """The user's cache folder of this package. It may be missing or not writable."""
    return _user_folder("XDG_CACHE_HOME", ".cache") / "kgnav-mcp"


def debugging() -> bool:
    """Whether unexpected errors print a traceback (KGNAV_DEBUG)."""
    return os.environ.get(_DEBUG, "") not in {"", "0"}


def environment_without_settings() -> dict[str, str]:
    """The environment without the variables of settings, for a process that must ignore them."""
    return {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}


def _user_folder(variable: str, default: str) -> Path:
    return Path(value) if (value := os.environ.get(variable)) else Path.home() / default


def _read_environment() -> dict[str, Any]:
    """The settings from environment variables.

    A variable whose name is similar to a setting's is refused as a typing error. Others with the prefix are ignored.
    """
    setting_variables = [facts.env for facts in describe_settings()] + [_CONFIG, _GRAPH, _DEBUG]
    for variable in os.environ:
        if not variable.startswith(PREFIX) or variable.startswith(_NESTED) or variable in setting_variables:
            continue
        if step := did_you_mean(variable, setting_variables, closeness=0.85):
            raise ConfigurationError(f"unknown environment variable {variable}", next_step=step)
    if not any(variable.upper().startswith(PREFIX) for variable in os.environ):
        return {}
    return _read_variables()


def _read_variables() -> dict[str, Any]:
    """The settings whose variables are set, nested as in `Settings`. Values are texts, not validated."""
    from pydantic_settings import (  # noqa: PLC0415 - most servers are configured by flags
        BaseSettings,
        EnvSettingsSource,
        SettingsConfigDict,
    )

    class Variables(Settings, BaseSettings):
        """The settings as environment variables. Never instantiated: only its fields and configuration are used."""

        model_config = SettingsConfigDict(
            env_prefix=PREFIX, env_nested_delimiter="__", env_ignore_empty=True, enable_decoding=False, defer_build=True
        )

    return EnvSettingsSource(Variables)()


def _read_file(path: Path) -> dict[str, Any]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"{path} is not valid TOML: {error}", next_step="Correct the file at that line."
        ) from error
    except OSError as error:
        raise ConfigurationError(
            f"{path} cannot be read: {error.strerror}", next_step="Check its permissions."
        ) from error
    graphs: object = content.get("graphs")
    if isinstance(graphs, dict):
        content["graphs"] = {
            name: _with_resolved_path(path.parent, graph) for name, graph in cast("dict[str, object]", graphs).items()
        }
    if isinstance(prompts := content.get("prompts"), str) and prompts:
        content["prompts"] = str(path.parent / Path(prompts).expanduser())
    return content


def _with_resolved_path(folder: Path, graph: object) -> object:
    """A graph's table with its path resolved from the file's folder. Other values are left to validation."""
    match graph:
        case {"location": str(location)}:
            return {**cast("dict[str, Any]", graph), "location": resolve_location(location, folder)}
        case _:
            return graph


def _merge(base: Mapping[str, Any], override: Mapping[str, Any]) -> dict[str, Any]:
    """Both mappings merged, nested tables too. Values of `override` win."""
    merged = dict(base)
    for key, value in override.items():
        base_value: object = merged.get(key)
        if isinstance(base_value, dict) and isinstance(value, dict):
            merged[key] = _merge(cast("dict[str, Any]", base_value), cast("dict[str, Any]", value))
        else:
            merged[key] = value
    return merged
