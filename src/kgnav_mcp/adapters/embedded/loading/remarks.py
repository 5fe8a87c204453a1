"""What a load has to say besides its counts: how it read what was open to doubt, and what seems to be a mistake."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Remarks:
    """Sentences without a full stop, in the order of the work."""

    notes: list[str] = field(default_factory=list[str])
    warnings: list[str] = field(default_factory=list[str])
