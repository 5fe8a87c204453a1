"""The queries around entities that stores share, with what they cost.

`?s` is always an entity that is asked about and `?o` the node at the far end, in whichever direction the edge points;
`?m` is a mediator. `$kind` narrows the rows to those that are shown. A fragment is a part of a query and costs what its
query says.

None of them sorts: below a LIMIT, Oxigraph takes seconds for 300,000 rows, and Virtuoso refuses more than 10,000. The
rows of one relation of one entity come in the order of the store's index, which is the same until it is written to.
"""

from __future__ import annotations

from typing import Final

from kgnav_mcp.adapters.sparql.terms import Terms
from kgnav_mcp.model import Direction
from kgnav_mcp.port import TailKind

_OUT, _IN = Direction.OUTGOING, Direction.INCOMING

AROUND_ONE: Final = {_OUT: "$s ?p ?o", _IN: "?o ?p $s"}
"""One entity as a constant is grouped six times faster by Virtuoso than as the only one of a list."""
AROUND_SET: Final = {_OUT: "VALUES ?s { $s } ?s ?p ?o", _IN: "VALUES ?s { $s } ?o ?p ?s"}
AROUND_PAIRS: Final = {_OUT: "VALUES (?s ?p) { $pairs } ?s ?p ?o", _IN: "VALUES (?s ?p) { $pairs } ?o ?p ?s"}
BETWEEN: Final = "VALUES (?s ?o) { $pairs } ?s ?p ?o"
BY: Final = {_OUT: "VALUES ?s { $s } ?s $p ?o", _IN: "VALUES ?s { $s } ?o $p ?s"}
BY_ONE: Final = {_OUT: "$s $p ?o", _IN: "?o $p $s"}
THROUGH_BY: Final = {
    _OUT: "VALUES ?s { $s } ?s $near ?m . $mediator ?m $far ?o FILTER(?o != ?s)",
    _IN: "VALUES ?s { $s } ?m $near ?s . $mediator ?o $far ?m FILTER(?o != ?s)",
}
FAR_ENDS: Final = {
    None: Terms(""),
    TailKind.ENTITY: Terms("FILTER(!isLiteral(?o))"),
    TailKind.LITERAL: Terms("FILTER(isLiteral(?o))"),
}

COUNTS_ONE: Final = "SELECT ?p (COUNT(*) AS ?n) WHERE { $around $kind } GROUP BY ?p"
"""Costs 20 ns for each edge of the entity on Virtuoso: 6 ms for 300,000; 0.6 us on Oxigraph, 5 us where the nodes of
statements about triples are left out."""
COUNTS_SET: Final = "SELECT ?s ?p (COUNT(*) AS ?n) WHERE { $around $kind } GROUP BY ?s ?p"
"""Costs 0.1 us for each edge of the entities on Virtuoso, 0.7 us on Oxigraph."""
COUNTS_BY: Final = "{ SELECT ($number AS ?number) ?s (COUNT(*) AS ?n) WHERE { $by $kind } GROUP BY ?s }"
"""Costs as much for each row of the relation; one branch of a union for each relation."""
EXAMPLES: Final = "{ SELECT DISTINCT ($number AS ?number) ?o WHERE { $by $kind } LIMIT $wanted }"
"""Costs a look-up and the rows it gives; one branch of a union for each relation, 0.2 ms."""
SLICE: Final = "SELECT ?o WHERE { $by $kind } OFFSET $skip LIMIT $most"
"""Costs 15 ns for each row skipped on Virtuoso, 0.5 us on Oxigraph; 2 us for each read."""
ROWS: Final = "SELECT ?s ?p ?o WHERE { $by $kind } LIMIT $most"
"""Costs a look-up for each entity, or each pair of an entity and a relation, and 5 us for each row."""
