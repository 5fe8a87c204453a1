"""The queries around entities that all SPARQL stores share, with their costs.

`?s` is always the entity and `?o` the node at the far end, whichever direction the edge points; `?m` is a mediator.
`$kind` filters the rows that are shown. A fragment is a part of a query, which states the cost.

Only one of them sorts: with a LIMIT, Oxigraph takes seconds for 300,000 rows, and Virtuoso refuses more than 10,000. On
these, the rows of one relation of one entity come in the order of the store's index, which only changes when data is
written. Where a store has no such order, they are sorted.
"""

from __future__ import annotations

from typing import Final

from kgnav_mcp.adapters.sparql_base.terms import Fragment
from kgnav_mcp.model import Direction
from kgnav_mcp.port import FarEndKind

_OUT, _IN = Direction.OUTGOING, Direction.INCOMING

AROUND_ONE: Final = {_OUT: "$s ?p ?o", _IN: "?o ?p $s"}
"""Virtuoso groups one entity as a constant six times faster than as the only item of a list."""
AROUND_SET: Final = {_OUT: "VALUES ?s { $s } ?s ?p ?o", _IN: "VALUES ?s { $s } ?o ?p ?s"}
AROUND_PAIRS: Final = {_OUT: "VALUES (?s ?p) { $pairs } ?s ?p ?o", _IN: "VALUES (?s ?p) { $pairs } ?o ?p ?s"}
BETWEEN: Final = "VALUES ?s { $heads } VALUES ?o { $tails } $among ?s ?p ?o"
"""Looks up each pair: 3 us on Oxigraph, 15 us on Virtuoso. A list of pairs would take ten times as long to parse."""
AMONG: Final = "VALUES ?p { $relations }"
BY: Final = {_OUT: "VALUES ?s { $s } ?s $p ?o", _IN: "VALUES ?s { $s } ?o $p ?s"}
BY_ONE: Final = {_OUT: "$s $p ?o", _IN: "?o $p $s"}
THROUGH_BY: Final = {
    _OUT: "VALUES ?s { $s } ?s $near ?m . $mediator ?m $far ?o FILTER(?o != ?s)",
    _IN: "VALUES ?s { $s } ?m $near ?s . $mediator ?o $far ?m FILTER(?o != ?s)",
}
FAR_ENDS: Final = {
    None: Fragment(""),
    FarEndKind.ENTITY: Fragment("FILTER(!isLiteral(?o))"),
    FarEndKind.LITERAL: Fragment("FILTER(isLiteral(?o))"),
}

COUNTS_ONE: Final = "SELECT ?p (COUNT(*) AS ?n) WHERE {$each_once $around $kind $end_once} GROUP BY ?p"
"""Costs 20 ns per edge of the entity on Virtuoso (6 ms for 300,000), 0.6 us on Oxigraph, or 5 us where the nodes of
statements about triples are filtered out."""
COUNTS_SET: Final = "SELECT ?s ?p (COUNT(*) AS ?n) WHERE {$each_once $around $kind $end_once} GROUP BY ?s ?p"
"""Costs 0.1 us per edge of the entities on Virtuoso, 0.7 us on Oxigraph."""
COUNTS_BY: Final = (
    "{ SELECT ($number AS ?number) ?s (COUNT(*) AS ?n) WHERE {$each_once $by $kind $end_once} GROUP BY ?s }"
)
"""Costs as much as COUNTS_SET for each row of the relation; one branch of a union per relation."""
EXAMPLES: Final = "{ SELECT DISTINCT ($number AS ?number) ?o WHERE { $by $kind } LIMIT $wanted }"
"""Costs a look-up and the rows it returns; one branch of a union per relation, 0.2 ms."""
SLICE: Final = "SELECT ?o WHERE { $by $kind } OFFSET $skip LIMIT $most"
"""Costs 15 ns per row skipped on Virtuoso, 0.5 us on Oxigraph; 2 us per row read."""
NOT_BLANK: Final = "FILTER(!isBlank(?o))"
SORTED: Final = f"SELECT$distinct ?o WHERE {{ $by $kind {NOT_BLANK} $beyond }} ORDER BY STR(?o) LIMIT $most"
"""Costs 30 us per row of the relation on Blazegraph, which sorts all that follow."""
FEW_BLANKS: Final = (
    "SELECT (COUNT(*) AS ?n) WHERE { { SELECT ?o WHERE { $by $kind FILTER(isBlank(?o)) } LIMIT $most } }"
)
"""Costs the rows of the relation that come before the last of $most blank nodes."""
ROWS: Final = "SELECT$distinct ?s ?p ?o WHERE { $by $kind } LIMIT $most"
"""Costs a look-up per entity, or per pair of an entity and a relation, and 5 us per row."""
