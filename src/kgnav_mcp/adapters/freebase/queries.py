"""Every query that is sent to Virtuoso, with its cost.

`?s` is always the entity and `?o` the node at the far end, whichever direction the edge points. None of them sorts:
Virtuoso refuses to sort more than 10,000 rows with a LIMIT. It reads the rows of one relation of one entity in the
order of its index, the same at every call, so an OFFSET there costs about 15 ns per row. `$name`, `$alias`,
`$description` and `$type` are the graph's relations with that meaning; `$topics` and `$guids` are the prefixes of the
IRIs of entities; `$languages` are the preferred languages and none. A fragment is a part of a query, which states the
cost.
"""

from __future__ import annotations

from typing import Final

from kgnav_mcp.model import Direction

# Fragments

MEDIATOR: Final = "FILTER NOT EXISTS { ?m $name ?unnamed } FILTER(SUBSTR(STR(?m), 1, $length) IN ($topics, $guids))"
"""STRSTARTS, or a further isIRI, would be equivalent, but makes Virtuoso start from all IRIs: 1,000 times slower."""
MEDIATOR_VIA: Final = MEDIATOR.replace("?m", "$via")
THROUGH_ONE: Final = {
    Direction.OUTGOING: "?m ?far ?o . $s ?near ?m",
    Direction.INCOMING: "?o ?far ?m . ?m ?near $s",
}
"""The far edge comes first: then Virtuoso checks that a node has no name before it follows that edge, not after."""
ONLY_NEAR: Final = "VALUES ?near { $relations }"
THROUGH_SET: Final = {
    Direction.OUTGOING: f"VALUES ?s {{ $s }} ?s ?near ?m . {MEDIATOR} ?m ?far ?o FILTER(?o != ?s)",
    Direction.INCOMING: f"VALUES ?s {{ $s }} ?m ?near ?s . {MEDIATOR} ?o ?far ?m FILTER(?o != ?s)",
}
THROUGH_NEAR: Final = {
    Direction.OUTGOING: f"VALUES ?s {{ $s }} ?s $near ?m . {MEDIATOR} ?m ?far ?o FILTER(?o != ?s)",
    Direction.INCOMING: f"VALUES ?s {{ $s }} ?m $near ?s . {MEDIATOR} ?o ?far ?m FILTER(?o != ?s)",
}

# The graph

GRAPHS: Final = "SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s $name ?n } } LIMIT 20"
"""Costs one pass over all names; sent once, and only where no graph is configured."""

# Relations of entities

LEADS_TO_MEDIATOR: Final = (
    f"{{ SELECT ($number AS ?number) WHERE {{ {{ SELECT (?o AS ?m) WHERE {{ $by }} LIMIT $sample }} {MEDIATOR} }} "
    "LIMIT 1 }"
)
"""Costs a look-up of a name per far end, for the first $sample far ends."""
THROUGH_COUNTS_ONE: Final = (
    "SELECT ?near ?far ?n (bif:iri_id_from_num(?least) AS ?first) (bif:iri_id_from_num(?greatest) AS ?last) WHERE { { "
    "SELECT ?near ?far (COUNT(*) AS ?n) (MIN(<LONG::bif:iri_id_num>(?m)) AS ?least) "
    "(MAX(<LONG::bif:iri_id_num>(?m)) AS ?greatest) WHERE { $only $through "
    "FILTER NOT EXISTS { ?m $name ?unnamed } FILTER(?o != $s) $kind } GROUP BY ?near ?far } }"
)
"""Costs a look-up of a name per far end of the near relations, and 1 us per row behind those without a name. Virtuoso
compares nodes by their internal numbers at no cost; comparing IRIs, or testing their prefix, would double the cost.
With MIN or MAX of an IRI in the query, Virtuoso 7.2.5 counts only some of the groups."""
THROUGH_COUNTS_SET: Final = "SELECT ?s ?near ?far (COUNT(*) AS ?n) WHERE { $through $kind } GROUP BY ?s ?near ?far"
"""Costs a look-up of a name per far end of the near relations, and of the edges of each mediator."""
THROUGH_NEAR_COUNTS: Final = (
    "{ SELECT ($number AS ?number) ?s ?far (COUNT(*) AS ?n) WHERE { $through $kind } GROUP BY ?s ?far }"
)
"""Costs as much as THROUGH_COUNTS_SET for one near relation. One query with a list of entities and a list of relations
makes Virtuoso start at the wrong end: 50 to 1,000 times slower."""
FAR_END: Final = "((SELECT ?o WHERE { $by $kind } OFFSET $skip LIMIT 1) AS ?o$skip)"
FAR_END_CALLED: Final = (
    "BIND(?o$skip AS ?end$skip) OPTIONAL { ?end$skip $name ?called$skip FILTER(LANG(?called$skip) IN ($languages)) }"
)
"""Without the second variable, Virtuoso drops far ends that are literals: it assumes that what has names is an IRI."""
FIRST_FAR_ENDS: Final = (
    "SELECT * WHERE { { SELECT ?p $far_ends WHERE { VALUES ?p { $relations } } } $called "
    "OPTIONAL { ?p $name ?called FILTER(LANG(?called) IN ($languages)) } }"
)
"""Costs 30 us per relation and far end, and 10 us for each of their names. Far ends are scalar subqueries, which only
Virtuoso has."""

# Rows at entities

ROWS: Final = (
    "SELECT ?s ?p ?o ?called ?role ((SELECT ?any WHERE { ?end $name ?any } LIMIT 1) AS ?other) WHERE { "
    "{ { SELECT ?s ?p ?o WHERE { $by $kind } LIMIT $most } BIND(?o AS ?end) "
    "OPTIONAL { ?end $name ?called FILTER(LANG(?called) IN ($languages)) } "
    "OPTIONAL { ?p $name ?role FILTER(LANG(?role) IN ($languages)) } } $anchors }"
)
"""Costs an index look-up per entity, or per pair of an entity and a relation, 5 us per row, and 30 us for its names,
which is less than a separate query."""
ANCHORS_CALLED: Final = "UNION { VALUES ?s { $ids } ?s $name ?called FILTER(LANG(?called) IN ($languages)) }"
"""Costs 0.3 ms, and 20 us per entity."""
BEHIND: Final = {
    Direction.OUTGOING: "SELECT ?m ?o WHERE { VALUES ?m { $ids } FILTER NOT EXISTS { ?m $name ?unnamed } "
    "?m $far ?o FILTER(?o != $s) $kind }",
    Direction.INCOMING: "SELECT ?m ?o WHERE { VALUES ?m { $ids } FILTER NOT EXISTS { ?m $name ?unnamed } "
    "?o $far ?m FILTER(?o != $s) $kind }",
}
"""Costs two index look-ups per node. Only nodes without a name are mediators."""
NEAR: Final = "SELECT ?s ?p ?o WHERE { $by $kind } LIMIT $most"
"""Costs an index look-up per pair of an entity and a relation, and 3 us per row."""
BEHIND_SEVERAL: Final = {
    Direction.OUTGOING: "SELECT ?m ?o WHERE { VALUES ?m { $ids } FILTER NOT EXISTS { ?m $name ?unnamed } "
    "?m $far ?o $kind }",
    Direction.INCOMING: "SELECT ?m ?o WHERE { VALUES ?m { $ids } FILTER NOT EXISTS { ?m $name ?unnamed } "
    "?o $far ?m $kind }",
}
"""As BEHIND, for the nodes next to several entities, each of which is among the far ends."""
FAR_EDGE: Final = {Direction.OUTGOING: "?m ?far ?o", Direction.INCOMING: "?o ?far ?m"}
ROLES_OF: Final = (
    "SELECT ?m ?far ?o ?called ?role WHERE { VALUES ?m { $ids } $edge FILTER(?o != $s) $kind "
    "OPTIONAL { ?o $name ?called FILTER(LANG(?called) IN ($languages)) } "
    "OPTIONAL { ?far $name ?role FILTER(LANG(?role) IN ($languages)) } } LIMIT $most"
)
"""Costs an index look-up per mediator, and 15 us for each of its rows."""

# Names

LABELS: Final = "SELECT ?s ?o WHERE { VALUES ?s { $ids } ?s $name ?o FILTER(LANG(?o) IN ($languages)) }"
"""Costs 20 us per entity."""
LABELS_OF_ANY_LANGUAGE: Final = "SELECT ?s ?o WHERE { VALUES ?s { $ids } ?s $name ?o }"
"""Costs 20 us per entity, and returns as many rows as it has names."""
DESCRIPTIONS: Final = (
    "SELECT ?s ?p ?o ?called WHERE { VALUES ?s { $ids } VALUES ?p { $name $type $description } ?s ?p ?o "
    "FILTER(!isLiteral(?o) || LANG(?o) IN ($languages)) OPTIONAL { ?o $name ?called } }"
)
"""Costs three index look-ups per entity, and one for each of its types."""
BEARERS: Final = "SELECT ?s ?p ?o WHERE { VALUES ?p { $name $alias } VALUES ?o { $texts } ?s ?p ?o } LIMIT $most"
"""Costs an index look-up per text. Virtuoso returns nothing for lists of some 200 texts, so lists are short."""
OF_TYPES: Final = "SELECT DISTINCT ?s WHERE { VALUES ?s { $ids } VALUES ?t { $types } ?s $type ?t }"
"""Costs an index look-up per entity and type."""

# Nodes and values

WITH_TYPE: Final = "VALUES ?t { $types } ?s $type ?t ."
WITH_PROPERTY: Final = "VALUES ?p { $having } ?s ?p ?o ."
WITH_TEXT: Final = "VALUES ?p { $having } ?s ?p ?o . FILTER($equal)"
"""Costs 1.3 us per value of the property, in any of the queries of nodes."""
WITH_TERM: Final = "VALUES ?p { $having } VALUES ?o { $terms } ?s ?p ?o ."
EVERY: Final = "VALUES ?any { $name $type } ?s ?any ?o ."
"""Costs every name and type of the graph. A mediator has at least a type."""
VALUES: Final = "SELECT DISTINCT ?o WHERE { $conditions FILTER(isLiteral(?o)) } OFFSET $skip LIMIT $most"
"""Costs 1 us for each value of the property."""
COUNTED_VALUES: Final = (
    "SELECT ?o (COUNT($counted) AS ?n) WHERE { $conditions FILTER(isLiteral(?o)) } GROUP BY ?o OFFSET $skip LIMIT $most"
)
"""Costs 2 us per value of the property."""
VALUE_COUNT: Final = "SELECT (COUNT(DISTINCT ?o) AS ?n) WHERE { $conditions FILTER(isLiteral(?o)) }"
"""Costs 1 us for each value of the property."""
ROLES: Final = f"?s $owner ?m . {MEDIATOR} VALUES ?p {{ $having }} ?m ?p ?o ."
"""Costs a look-up of a name per edge of the relation, in any of the queries of values."""
HAS_MEDIATORS: Final = (
    f"SELECT ?m WHERE {{ {{ SELECT ?m WHERE {{ ?s $owner ?m }} LIMIT $sample }} {MEDIATOR} }} LIMIT 1"
)
"""Costs a look-up of a name per sampled edge ($sample)."""

# The schema

RELATIONS: Final = "SELECT DISTINCT ?p WHERE { ?s ?p ?o }"
"""Costs 10 ns per triple of the graph; used where counting the relations takes too long."""
TYPE_COUNTS: Final = "SELECT ?t (COUNT(*) AS ?n) WHERE { ?s $type ?t } GROUP BY ?t"
"""Costs 20 ns per type of each entity."""
