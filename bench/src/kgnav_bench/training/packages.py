"""Imports the packages of the extra `train` where they are used: they take seconds and gigabytes."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class MissingPackageError(Exception):
    """A package of the extra `train` is not installed. The message names the command that installs it."""


def package(name: str) -> Any:  # noqa: ANN401 - these packages are not installed where types are checked
    """Import a module of the extra `train`.

    Raises:
        MissingPackageError: it is not installed.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        message = f'{error.name} is not installed. Training needs the extra train: pip install "./bench[train]"'
        raise MissingPackageError(message) from error
