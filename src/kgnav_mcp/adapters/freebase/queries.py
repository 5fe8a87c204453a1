"""Every query that is sent to Virtuoso, with its cost, beside those that are as fast in the generic adapter's form.

`?s` is always the entity and `?o` the node at the far end, whichever direction the edge points. None of them sorts:
Virtuoso refuses to sort more than 10,000 rows with a LIMIT. It reads the rows of one relation of one entity in the
order of its index, the same at every call, so an OFFSET there costs about 15 ns per row. `$named`, `$description0` and
`$typed` are the graph's relations for names, descriptions and types; `$topics` and `$guids` are the prefixes of the
IRIs of entities; `$languages` are the preferred languages and none. A fragment is a part of a query, which states the
cost.
"""

from __future__ import annotations

from typing import Final

from kgnav_mcp.model import Direction

# Fragments

MEDIATOR: Final = "FILTER NOT EXISTS { ?m $named ?unnamed } FILTER(SUBSTR(STR(?m), 1, $length) IN ($topics, $guids))"
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

GRAPHS: Final = "SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s $named ?n } } LIMIT 20"
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
    "FILTER NOT EXISTS { ?m $named ?unnamed } FILTER(?o != $s) $kind } GROUP BY ?near ?far } }"
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
    "BIND(?o$skip AS ?end$skip) OPTIONAL { ?end$skip $named ?called$skip FILTER(LANG(?called$skip) IN ($languages)) }"
)
"""Without the second variable, Virtuoso drops far ends that are literals: it assumes that a node with a name is an IRI.
"""
FIRST_FAR_ENDS: Final = (
    "SELECT * WHERE { { SELECT ?p $far_ends WHERE { VALUES ?p { $relations } } } $called "
    "OPTIONAL { ?p $named ?called FILTER(LANG(?called) IN ($languages)) } }"
)
"""Costs 30 us per relation and far end, and 10 us for each of their names. Far ends are scalar subqueries, which only
Virtuoso has."""

# Rows at entities

ROWS: Final = (
    "SELECT ?s ?p ?o ?called ?role ((SELECT ?any WHERE { ?end $named ?any } LIMIT 1) AS ?other) WHERE { "
    "{ { SELECT ?s ?p ?o WHERE { $by $kind } LIMIT $most } BIND(?o AS ?end) "
    "OPTIONAL { ?end $named ?called FILTER(LANG(?called) IN ($languages)) } "
    "OPTIONAL { ?p $named ?role FILTER(LANG(?role) IN ($languages)) } } $anchors }"
)
"""Costs an index look-up per entity, or per pair of an entity and a relation, 5 us per row, and 30 us for its names,
which is less than a separate query."""
ANCHORS_CALLED: Final = "UNION { VALUES ?s { $ids } ?s $named ?called FILTER(LANG(?called) IN ($languages)) }"
"""Costs 0.3 ms, and 20 us per entity."""
BEHIND_SEVERAL: Final = {
    Direction.OUTGOING: "SELECT ?m ?o WHERE { VALUES ?m { $ids } FILTER NOT EXISTS { ?m $named ?unnamed } "
    "?m $far ?o $kind }",
    Direction.INCOMING: "SELECT ?m ?o WHERE { VALUES ?m { $ids } FILTER NOT EXISTS { ?m $named ?unnamed } "
    "?o $far ?m $kind }",
}
"""Costs two index look-ups per node next to several entities. Only nodes without a name are mediators."""
BEHIND: Final = {side: query.replace("$kind", "FILTER(?o != $s) $kind") for side, query in BEHIND_SEVERAL.items()}
"""As BEHIND_SEVERAL, for the nodes next to one entity, which is excluded."""
ROLES_OF: Final = (
    "SELECT ?m ?far ?o ?called ?role WHERE { VALUES ?m { $ids } $edge FILTER(?o != $s) $kind "
    "OPTIONAL { ?o $named ?called FILTER(LANG(?called) IN ($languages)) } "
    "OPTIONAL { ?far $named ?role FILTER(LANG(?role) IN ($languages)) } } LIMIT $most"
)
"""Costs an index look-up per mediator, and 15 us for each of its rows."""

# Names

SPOKEN: Final = "LANG(?o) IN ($languages)"
"""Virtuoso stores language tags in small letters. For 20 names LANGMATCHES takes a fifth longer."""
LABELS: Final = "SELECT ?s ?o WHERE { VALUES ?s { $ids } ?s $named ?o FILTER($spoken) }"
"""Costs 20 us per entity."""
LABELS_OF_ANY_LANGUAGE: Final = "SELECT ?s ?o WHERE { VALUES ?s { $ids } ?s $named ?o }"
"""Costs 20 us per entity, and returns as many rows as it has names."""
DESCRIPTIONS: Final = (
    "SELECT ?s ?p ?o ?called WHERE { VALUES ?s { $ids } VALUES ?p { $named $typed $description0 } ?s ?p ?o "
    "FILTER(!isLiteral(?o) || LANG(?o) IN ($languages)) OPTIONAL { ?o $named ?called } }"
)
"""Costs three index look-ups per entity, and one for each of its types."""

# Nodes and values

EVERY: Final = "VALUES ?any { $named $typed } ?s ?any ?o ."
"""Costs every name and type of the graph. A mediator has at least a type."""
ROLES: Final = f"?s $owner ?m . {MEDIATOR} VALUES ?p {{ $having }} ?m ?p ?v . FILTER(isLiteral(?v))"
"""Costs a look-up of a name per edge of the relation, in any of the queries of values."""
HAS_MEDIATORS: Final = (
    f"SELECT ?m WHERE {{ {{ SELECT ?m WHERE {{ ?s $owner ?m }} LIMIT $sample }} {MEDIATOR} }} LIMIT 1"
)
"""Costs a look-up of a name per sampled edge ($sample)."""

# The schema

RELATIONS: Final = "SELECT DISTINCT ?p WHERE { ?s ?p ?o }"
"""Costs 10 ns per triple of the graph; used where counting the relations takes too long."""
TYPE_COUNTS: Final = "SELECT ?t (COUNT(*) AS ?n) WHERE { ?s $typed ?t } GROUP BY ?t"
"""Costs 20 ns per type of each entity."""
