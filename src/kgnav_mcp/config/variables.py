"""The settings among the environment variables, read as pydantic-settings reads them."""

from __future__ import annotations

from typing import Any

from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict

from kgnav_mcp.config.settings import PREFIX, Settings


class _Variables(Settings, BaseSettings):
    """The settings as environment variables. Never made: it tells the reader of variables what to look for."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", env_ignore_empty=True, enable_decoding=False, defer_build=True
    )


def read_variables() -> dict[str, Any]:
    """The settings that have a variable, nested as in `Settings`; values are as they stand there, not checked."""
    return EnvSettingsSource(_Variables)()
