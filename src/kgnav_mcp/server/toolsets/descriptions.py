"""Descriptions and types that several tools' arguments share."""

from __future__ import annotations

from typing import Final, Literal

ENTITY = "Entity id exactly as printed in an answer, or a name only one entity has; or a list: one call for many."
CURSOR = "Copied from the line `next: cursor` of this same call's last answer; goes on from there."
QUESTION = "The question being answered; ranks the relations by it."
EITHER: Final = "either"
EitherDirection = Literal["outgoing", "incoming", "either"]
"""A direction, or `either` for both."""
