"""Reads settings from environment variables with pydantic-settings."""

from __future__ import annotations

from typing import Any

from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict

from kgnav_mcp.config.settings import PREFIX, Settings


class _Variables(Settings, BaseSettings):
    """The settings as environment variables. Never instantiated: only its fields and configuration are used."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", env_ignore_empty=True, enable_decoding=False, defer_build=True
    )


def read_variables() -> dict[str, Any]:
    """The settings whose variables are set, nested as in `Settings`. Values are texts, not validated."""
    return EnvSettingsSource(_Variables)()
