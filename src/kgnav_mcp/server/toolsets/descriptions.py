"""Descriptions and types that several tools' arguments share."""

from __future__ import annotations

from typing import Final, Literal

ENTITY = "Entity id as printed, or a name that only one entity has; or a list of them."
CURSOR = "From `next: cursor` in the last answer."
QUESTION = "The question to answer; ranks the relations."
EITHER: Final = "either"
EitherDirection = Literal["outgoing", "incoming", "either"]
"""A direction, or `either` for both."""
