"""Reads settings from flags, environment and kgnav.toml, and finds the user's folders."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from kgnav_mcp.config.graphs import choose_graphs, resolve_location
from kgnav_mcp.config.problems import Sources, configuration_error, did_you_mean
from kgnav_mcp.config.settings import NESTED_SETTINGS, PREFIX, Settings, describe_settings, split_commas
from kgnav_mcp.errors import ConfigurationError

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
    wanted = graphs or graphs_from_environment()
    known: object = merged.get("graphs", {})
    if wanted and isinstance(known, dict):
        merged["graphs"] = choose_graphs(wanted, cast("dict[str, Any]", known), path)
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
            next_step=f"Name one that is there with --config or {_CONFIG}, or leave both out.",
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

    A variable with nearly the name of a setting is refused as a typing error. Others with the prefix are ignored.
    """
    known = [facts.env for facts in describe_settings()] + [_CONFIG, _GRAPH, _DEBUG]
    for variable in os.environ:
        if not variable.startswith(PREFIX) or variable.startswith(_NESTED) or variable in known:
            continue
        if step := did_you_mean(variable, known, closeness=0.85):
            raise ConfigurationError(f"there is no environment variable {variable}", next_step=step)
    if not any(variable.upper().startswith(PREFIX) for variable in os.environ):
        return {}
    from kgnav_mcp.config.variables import read_variables  # noqa: PLC0415 - most servers are configured by flags

    return read_variables()


def _read_file(path: Path) -> dict[str, Any]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} is not valid TOML: {error}", next_step="Mend the file there.") from error
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}", next_step="Check its rights.") from error
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
