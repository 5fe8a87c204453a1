"""The error that ends a command, with a message for the user."""

from __future__ import annotations


class ServiceError(Exception):
    """A service could not be installed, started, stopped or filled. The text says why and what to do."""
