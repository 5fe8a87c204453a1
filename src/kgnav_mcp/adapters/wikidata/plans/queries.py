"""Edges of patterns of plans in a Wikibase: fragments, which cost what their query says."""

from __future__ import annotations

from typing import Final

BEST_OF: Final = "FILTER EXISTS { $statement a wikibase:BestRank }"
"""As a triple Oxigraph would begin with it: with every statement of the graph."""
RANK_OF: Final = "$statement wikibase:rank $rank ."
_TO_ENTITY: Final = "FILTER(STRSTARTS(STR($target), $entities))"
STATED_EDGE: Final = f"$narrowed $source $claim $statement . $ranked $statement $p $target . {_TO_ENTITY}"
TRUTHY_EDGE: Final = f"$narrowed $source $direct $target . {_TO_ENTITY}"
AMONG_PAIRS: Final = "VALUES ($claim $p) { $pairs }"
OF_ANY: Final = "FILTER(STRSTARTS(STR($p), $value))"
"""Predicates that lead to values, of any property."""
_QUALIFIED: Final = "$statement $qualifier $value ."
QUALIFIED_BY: Final = f"VALUES $value {{ $terms }} {_QUALIFIED}"
"""Costs the uses of the qualifier with these values. Of the following, each costs all uses of the qualifier."""
QUALIFIED_BY_TEXT: Final = f"{_QUALIFIED} FILTER(STR($value) IN ($texts))"
QUALIFIED_BY_BEGINNING: Final = f"{_QUALIFIED} FILTER(STRSTARTS(STR($value), $text))"
QUALIFIED_BY_NUMBER: Final = (
    f"{_QUALIFIED} FILTER(<http://www.w3.org/2001/XMLSchema#double>(STR($value)) IN ($numbers))"
)
QUALIFIED_BY_LABEL: Final = f"{_QUALIFIED} FILTER EXISTS {{ $value rdfs:label ?label FILTER(STR(?label) IN ($texts)) }}"
"""The label may be in any language, as the one that is shown may."""
QUALIFIED_BY_NODE: Final = "$statement ($qualifiers) $value ."
"""Costs the uses of the qualifiers with the node, where something else says which node it is."""
REACHES: Final = f"$source ($relations)* $target . {_TO_ENTITY}"
"""By the values of the best statements."""
