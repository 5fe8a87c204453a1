"""Fragments for the patterns of plans over a Wikibase. They cost what the query costs that contains them."""

from __future__ import annotations

from typing import Final

BEST_OF: Final = "FILTER EXISTS { $statement a wikibase:BestRank }"
"""A FILTER, because Oxigraph would start from a triple pattern, that is from every statement of the graph."""
RANK_OF: Final = "$statement wikibase:rank $rank ."
_TO_ENTITY: Final = "FILTER(STRSTARTS(STR($target), $entities))"
STATED_EDGE: Final = f"$narrowed $source $claim $statement . $ranked $statement $p $target . {_TO_ENTITY}"
TRUTHY_EDGE: Final = f"$narrowed $source $direct $target . {_TO_ENTITY}"
AMONG_PAIRS: Final = "VALUES ($claim $p) { $pairs }"
OF_ANY: Final = "FILTER(STRSTARTS(STR($p), $value))"
"""Restricts to predicates that lead to values, of any property."""
_QUALIFIED: Final = "$statement $qualifier $value ."
QUALIFIED_BY: Final = f"VALUES $value {{ $terms }} {_QUALIFIED}"
"""Costs the uses of the qualifier with these values. Of the following, each costs all uses of the qualifier."""
QUALIFIED_BY_TEXT: Final = f"{_QUALIFIED} FILTER(STR($value) IN ($texts))"
QUALIFIED_BY_BEGINNING: Final = f"{_QUALIFIED} FILTER(STRSTARTS(STR($value), $text))"
QUALIFIED_BY_NUMBER: Final = (
    f"{_QUALIFIED} FILTER(<http://www.w3.org/2001/XMLSchema#double>(STR($value)) IN ($numbers))"
)
QUALIFIED_BY_LABEL: Final = f"{_QUALIFIED} FILTER EXISTS {{ $value rdfs:label ?label FILTER(STR(?label) IN ($texts)) }}"
"""The label may be in any language, like the one that is shown."""
QUALIFIED_BY_NODE: Final = "$statement ($qualifiers) $value ."
"""Costs the uses of the qualifiers with the node, if another part of the query binds that node."""
REACHES: Final = f"$source ($relations)* $target . {_TO_ENTITY}"
"""Along the values of the best-ranked statements."""
