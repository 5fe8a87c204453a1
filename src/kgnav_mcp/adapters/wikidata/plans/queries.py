"""Edges of patterns of plans in a Wikibase: fragments, which cost what their query says."""

from __future__ import annotations

from typing import Final

BEST_OF: Final = "$statement a wikibase:BestRank ."
RANK_OF: Final = "$statement wikibase:rank $rank ."
_TO_ENTITY: Final = "FILTER(STRSTARTS(STR($target), $entities))"
STATED_EDGE: Final = f"$source $claim $statement . $ranked $statement $p $target . {_TO_ENTITY}"
TRUTHY_EDGE: Final = f"$source $direct $target . {_TO_ENTITY}"
REACHES: Final = f"$source ($relations)* $target . {_TO_ENTITY}"
"""By the values of the best statements."""
