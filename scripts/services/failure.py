"""What ends a command: a sentence for the person who gave it."""

from __future__ import annotations


class ServiceError(Exception):
    """A service could not be installed, started, stopped or filled; the text says why and what to do."""
