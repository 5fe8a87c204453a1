"""Every query that is sent to an endpoint, with its cost. All are plain SPARQL 1.1, except where marked.

`?s` is always the entity and `?o` the node at the far end, whichever direction the edge points; `?m` is a mediator,
`?b` a blank node, `?r` the node of a statement about a triple (its reifier). `$kind` filters the rows that are shown. A
"look-up" is one in the endpoint's index of triples.

These do not sort: with a LIMIT, Oxigraph takes seconds for 300,000 rows and Virtuoso refuses more than 10,000. Short
lists are sorted by this program; long ones come in the order of the endpoint's index, which only changes when data is
written. A fragment is a part of a query, which states the cost.
"""

from __future__ import annotations

from typing import Final

from kgnav_mcp.adapters.sparql_base.queries import DOUBLE, NOT_NAN
from kgnav_mcp.adapters.sparql_base.terms import Fragment
from kgnav_mcp.model import Direction

OUT, IN = Direction.OUTGOING, Direction.INCOMING

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

# Fragments

HEADS: Final = "FILTER(isIRI($node) || isBlank($node))"
"""Excludes quoted triples (RDF-star) as heads: they are not nodes."""
UNNAMED: Final = "FILTER NOT EXISTS { ?m $named ?unnamed }"
MEDIATOR: Final = {"blank": f"FILTER(isBlank(?m)) {UNNAMED}", "unnamed": f"FILTER(!isLiteral(?m)) {UNNAMED}"}
MEDIATOR_VIA: Final = {kind: condition.replace("?m", "$via") for kind, condition in MEDIATOR.items()}
NEAR: Final = {OUT: "$s ?near ?m .", IN: "?m ?near $s ."}
NEAR_SET: Final = {OUT: "VALUES ?s { $s } ?s ?near ?m .", IN: "VALUES ?s { $s } ?m ?near ?s ."}
LOOP: Final = "$edge FILTER($end = $source)"
ONE_OF_RELATIONS: Final = "FILTER($relation IN ($relations))"
ONE_OF_GRAPHS: Final = "FILTER(?g IN ($graphs))"
ONE_NEAR: Final = "FILTER(?near IN ($listed))"
FAR: Final = {OUT: "?m ?far ?o", IN: "?o ?far ?m"}

# The endpoint

NAMED_GRAPHS: Final = "SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o } } LIMIT 5"
"""Costs a pass over the graphs; sent only where the default graph is empty."""
GRAPH_SIZES: Final = "SELECT ?g (COUNT(*) AS ?n) WHERE { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g"
"""Costs 20 ns per triple of the store on Virtuoso."""
SOME_GRAPHS: Final = "SELECT DISTINCT ?g WHERE { { SELECT ?g WHERE { GRAPH ?g { ?s ?p ?o } } LIMIT $sample } }"
"""Costs 0.1 us per sampled triple ($sample) on Virtuoso."""
NAMED: Final = "SELECT ?s WHERE { ?s $named ?n } LIMIT 1"
"""Costs a look-up."""

# Statements about triples

STATEMENT_PROBE: Final = (
    f"SELECT ?r WHERE {{ {{ SELECT * WHERE {{ ?r <{_RDF}subject> ?x ; <{_RDF}predicate> ?p ; <{_RDF}object> ?y }} "
    "LIMIT 1000 } ?x ?p ?y } LIMIT 1"
)
"""Costs a few look-ups; a few thousand where the graph does not have the triples that its statements are about."""
REIFIES_PROBE: Final = f"SELECT ?r WHERE {{ ?r <{_RDF}reifies> ?t }} LIMIT 1"
"""Costs a look-up; finds RDF 1.2 statements with SPARQL 1.1."""
TRIPLE_TERM_PROBE: Final = f"SELECT ?r WHERE {{ ?r <{_RDF}reifies> <<( ?x ?p ?y )>> }} LIMIT 1"
"""Costs a look-up; SPARQL 1.2. Sent only where the graph has reifiers."""
QUOTED_PROBE: Final = "SELECT ?q WHERE { << ?x ?p ?y >> ?q ?v } LIMIT 1"
"""Costs up to a pass over the graph, with a time limit; SPARQL-star."""
TRIPLE_REIFIERS: Final = {
    "statement": f"?r <{_RDF}subject> $x ; <{_RDF}predicate> $p ; <{_RDF}object> $y .",
    "reifies": f"?r <{_RDF}reifies> <<( $x $p $y )>> .",
    "quoted": "",
}
"""Connects a reifier to its triple, in each notation. A quoted triple (SPARQL-star) is its own reifier."""
TRIPLE_QUALIFIERS: Final = {
    "statement": f"{TRIPLE_REIFIERS['statement']} ?r ?q ?v .",
    "reifies": f"{TRIPLE_REIFIERS['reifies']} ?r ?q ?v .",
    "quoted": "<< $x $p $y >> ?q ?v .",
}
"""Binds the qualifiers ?q and values ?v of a triple."""
QUALIFYING: Final = {
    "statement": f"?r ?q $value . {TRIPLE_REIFIERS['statement']}",
    "reifies": f"?r ?q $value . {TRIPLE_REIFIERS['reifies']}",
    "quoted": "<< $x $p $y >> ?q $value .",
}
"""Binds the qualifiers ?q that have $value, and the triples that they belong to."""
HAS_QUALIFIER: Final = {
    "statement": f"?r $q $v . {TRIPLE_REIFIERS['statement']}",
    "reifies": f"?r $q $v . {TRIPLE_REIFIERS['reifies']}",
    "quoted": "<< $x $p $y >> $q $v .",
}
"""Binds the values $v of one qualifier $q of the triples between two nodes."""
VALUES_OF: Final = "?r $q $v ."
EQUAL_VALUES: Final = "SELECT DISTINCT ?v WHERE { $values FILTER($equal) } LIMIT $most"
"""Costs 1 us per value of the qualifier."""
EQUAL_LITERAL: Final = "(isLiteral($v) && STR($v) = $text)"
TEXT_FORMS: Final = (
    "SELECT DISTINCT ?l ?d WHERE { VALUES ?p { $relations } ?s ?p ?o FILTER(isLiteral(?o)) "
    "BIND(LANG(?o) AS ?l) BIND(DATATYPE(?o) AS ?d) } LIMIT $most"
)
"""Costs 1 us per value of the relations."""
NODES_CALLED: Final = "SELECT DISTINCT ?v WHERE { VALUES ?name { $names } ?v $named ?name } LIMIT $most"
"""Costs a look-up for each name, and a row for each node with it."""
EQUAL_TEXT: Final = "(!isLiteral($v) || STR($v) = $text)"
"""Keeps literals whose text is $text, and all nodes: their names are compared later."""
EQUAL_NUMBER: Final = f"{DOUBLE.replace('?value', '$v')} = $number"
EXACT_TEXT: Final = "STR($v) = $text"
EXACT_NUMBER: Final = f"(DATATYPE($v) IN ($numbers) && {EQUAL_NUMBER} && {NOT_NAN.replace('?value', '$v')})"
QUALIFIED_EDGE: Final = "$pattern FILTER($equal) FILTER(isIRI($source) && isIRI($target))"
"""With VALUES in $pattern, costs a few look-ups per match. Oxigraph applies a filter after the joins, and joins a
sub-query with all edges of the relation: 15 to 95 s instead of 20 ms for one of 375,000 values."""
QUALIFIED_EDGES: Final = (
    "{ SELECT DISTINCT $edge WHERE { $pattern FILTER($equal) FILTER(isIRI($source) && isIRI($target)) } }"
)
"""Costs 1 us per value of the qualifier. Edges of blank nodes have no qualifiers."""
EDGE_IS_QUALIFIED: Final = "FILTER(isIRI($source) && isIRI($target) && ($exists))"
HAS_EXACT_QUALIFIER: Final = "EXISTS { $pattern FILTER($equal) }"
HAS_NO_SUCH_QUALIFIER: Final = "FILTER(NOT EXISTS { $pattern FILTER($equal) })"
QUALIFIED: Final = "SELECT DISTINCT ?s ?p ?o WHERE { $qualifying $shown ?s ?p ?o } LIMIT $most"
"""Costs a few look-ups per statement with that value, up to $most rows."""
STATEMENTS_OF: Final = "SELECT ?s ?p ?o ?r ?q ?v WHERE { VALUES (?s ?p ?o) { $triples } $statement }"
"""Costs a look-up per triple."""
PARALLEL: Final = {
    OUT: "SELECT ?s ?p (COUNT(*) AS ?n) (COUNT(DISTINCT ?o) AS ?t) WHERE "
    "{$each_once VALUES ?s { $s } ?s ?p ?o . $stated $end_once} GROUP BY ?s ?p",
    IN: "SELECT ?s ?p (COUNT(*) AS ?n) (COUNT(DISTINCT ?o) AS ?t) WHERE "
    "{$each_once VALUES ?s { $s } ?o ?p ?s . $stated $end_once} GROUP BY ?s ?p",
}
"""Costs 20 us per triple of the entities."""
ALL_PARALLEL: Final = (
    "SELECT ?p (SUM(?c - 1) AS ?n) WHERE {$each_once "
    "{ SELECT ?s ?p ?o (COUNT(?r) AS ?c) WHERE {$each_once $stated $end_once} "
    "GROUP BY ?s ?p ?o HAVING (COUNT(?r) > 1) } ?s ?p ?o $end_once} GROUP BY ?p"
)
"""Costs 20 us per reifier of the graph. With a look-up of each triple before it is grouped, Virtuoso takes ten times as
long."""
PARALLEL_OF: Final = (
    "SELECT (COUNT(*) AS ?t) (SUM(?c) AS ?n) WHERE { { SELECT ?s ?o (COUNT(*) AS ?c) WHERE { "
    "{ SELECT ?s ?o WHERE {$each_once $stated $end_once} LIMIT $most } } GROUP BY ?s ?o } }"
)
"""Costs 10 us per reifier of one relation, up to $most."""
STATED_RELATIONS: Final = f"SELECT DISTINCT ?p WHERE {{ ?r <{_RDF}predicate> ?p }} LIMIT $most"
"""Costs 0.4 us per statement."""
REIFIERS: Final = {
    "statement": f"?r <{_RDF}subject> ?subject .",
    "reifies": f"?r <{_RDF}reifies> ?triple .",
}
REIFIER_FACTS: Final = (
    "SELECT ?p ?l ?named (COUNT(*) AS ?n) WHERE {$each_once $reifiers ?r ?p ?o "
    "BIND(isLiteral(?o) AS ?l) BIND(isIRI(?r) AS ?named) $end_once} GROUP BY ?p ?l ?named"
)
"""Costs 15 us per reifier of the graph."""
UNASSERTED: Final = "SELECT (COUNT(*) AS ?n) WHERE {$each_once $stated FILTER NOT EXISTS { ?s ?p ?o } $end_once}"
"""Costs 25 us per reifier of the graph."""
QUOTED_FACTS: Final = "SELECT ?p (COUNT(*) AS ?n) WHERE { << ?x ?y ?z >> ?p ?o } GROUP BY ?p"
"""Costs a pass over the quoted triples of the graph."""
IRI_REIFIER: Final = "SELECT ?r WHERE { $reifiers FILTER(isIRI(?r)) } LIMIT 1"
"""Costs 0.5 us per reifier of the graph, if none has an IRI."""
NO_BLANK_REIFIER: Final = "FILTER(isIRI($node) || NOT EXISTS { $node $about ?subject })"
"""As NO_REIFIER where only blank nodes are reifiers: costs no look-up for other nodes, and half of the time in all."""
NO_REIFIER: Final = "FILTER NOT EXISTS { $node $about ?subject }"
"""Excludes reifiers: their facts are shown as qualifiers. Costs a look-up per row: 1 us."""
SHOWN: Final = {
    OUT: f"FILTER($relation != <{_RDF}reifies>)",
    IN: f"FILTER($relation NOT IN (<{_RDF}subject>, <{_RDF}predicate>, <{_RDF}object>))",
}
"""Excludes the relations that only make up the notation of statements."""
QUALIFIERS_OF: Final = (
    "{ SELECT DISTINCT ($number AS ?number) ?q ?node ?d WHERE { { SELECT ?s ?o WHERE { ?s $p ?o } LIMIT $sample } "
    "$statement BIND(!isLiteral(?v) AS ?node) BIND(DATATYPE(?v) AS ?d) } }"
)
"""Costs $sample look-ups, and one per qualifier found."""
EDGE_VALUES: Final = "VALUES ?q { $properties } ?s $p ?o . $statement FILTER(isLiteral(?v))"
"""Costs 20 us per triple with the relation, in any of the queries of values."""

# Relations of entities

FIRST_EDGES: Final = (
    "SELECT ?p (COUNT(*) AS ?n) WHERE { { SELECT ?p WHERE { $around $kind } LIMIT $most } } GROUP BY ?p"
)
"""Costs 0.6 us per edge, up to $most; used where counting all of them takes too long."""
HAVING: Final = {
    OUT: "SELECT ?p WHERE { VALUES ?p { $relations } FILTER EXISTS { $s ?p ?o } }",
    IN: "SELECT ?p WHERE { VALUES ?p { $relations } FILTER EXISTS { ?o ?p $s } }",
}
"""Costs a look-up per relation, whatever the degree."""
THROUGH_ONE: Final = (
    "SELECT ?near ?far (COUNT(*) AS ?n) WHERE {$each_once $path FILTER(?o != $s) $kind $end_once} GROUP BY ?near ?far"
)
"""Costs a few look-ups per edge of the entity, and the edges of each mediator."""
THROUGH_SET: Final = (
    "SELECT ?s ?near ?far (COUNT(*) AS ?n) WHERE {$each_once $path FILTER(?o != ?s) $kind $end_once} "
    "GROUP BY ?s ?near ?far"
)
"""Costs as much as THROUGH_ONE for each entity."""

# Rows at entities

MEDIATORS: Final = {
    OUT: "SELECT$distinct ?m WHERE { $s $near ?m $mediator } OFFSET $skip LIMIT $most",
    IN: "SELECT$distinct ?m WHERE { ?m $near $s $mediator } OFFSET $skip LIMIT $most",
}
"""Costs a few look-ups per row skipped or read."""
BEHIND: Final = {
    OUT: "SELECT ?m ?o WHERE { VALUES ?m { $ids } ?m $far ?o FILTER(?o != $s) $kind }",
    IN: "SELECT ?m ?o WHERE { VALUES ?m { $ids } ?o $far ?m FILTER(?o != $s) $kind }",
}
"""Costs a look-up per mediator."""

# Blank nodes

_SEEDS: Final = "$blanks FILTER(isBlank($seed)) $steps"
CONTENTS: Final = (
    f"{{ SELECT DISTINCT $node ?q ?v (true AS ?out) WHERE {{ {_SEEDS} $node ?q ?v }} }} UNION "
    f"{{ SELECT DISTINCT $node ?q ?v (false AS ?out) WHERE {{ {_SEEDS} ?v ?q $node }} }}"
)
CONTENTS_FAR_AWAY: Final = (
    f"{{ {{ SELECT DISTINCT $node WHERE {{ {_SEEDS} }} }} $node ?q ?v BIND(true AS ?out) }} UNION "
    f"{{ {{ SELECT DISTINCT $node WHERE {{ {_SEEDS} }} }} ?v ?q $node BIND(false AS ?out) }}"
)
"""As CONTENTS, for nodes more than one step away, or only one.

RDF4J takes 100 times longer for CONTENTS at two steps, and Virtuoso 200 times longer at one step if it still has the
statistics of an empty graph. For this form Blazegraph reads the whole graph and takes 10 times longer.
"""
NEXT_BLANK: Final = " { $near $r $far FILTER(isBlank($far)) } UNION { $far $r $near FILTER(isBlank(COALESCE($far))) }"
"""Virtuoso 7.2.5 takes 7 s for 800 nodes of a small graph without COALESCE, and sometimes crashes."""
BRANCHES: Final = "SELECT * WHERE { $branches } OFFSET $skip LIMIT $most"
"""Costs $blanks twice for each level, and the triples of the blank nodes.

One answer has all of them, because labels of blank nodes are valid only within it.
"""
BLANKS_OF_PAIRS: Final = {
    OUT: "VALUES (?s ?p) { $pairs } ?s ?p ?b",
    IN: "VALUES (?s ?p) { $pairs } ?b ?p ?s",
}
BLANKS_OF_PATTERN: Final = "{ SELECT DISTINCT $node WHERE { $pattern FILTER(isBlank($node)) } }"
BLANKS_OF_NODES: Final = "{ SELECT DISTINCT ?s WHERE { $conditions } OFFSET $skip LIMIT $most }"
BLANKS_OF_SLICE: Final = "{ SELECT ?o WHERE { $by $kind } OFFSET $skip LIMIT $most }"
BLANKS_OF: Final = "{ SELECT ?o WHERE { $by $kind FILTER(isBlank(?o)) } }"
MEDIATOR_SLICE: Final = {
    OUT: "{ SELECT ?m WHERE { $s $near ?m $mediator } OFFSET $skip LIMIT $most }",
    IN: "{ SELECT ?m WHERE { ?m $near $s $mediator } OFFSET $skip LIMIT $most }",
}
STEP: Final = {False: "$from $relation $to .", True: "$to $relation $from ."}
ALIKE: Final = (
    "{ SELECT ($number AS ?number) (COUNT(*) AS ?n) WHERE { "
    "{ SELECT DISTINCT ?b WHERE { $pattern FILTER(isBlank(?b)) } LIMIT $most } } }"
)
"""Costs a look-up per blank node that points at the same node with an IRI."""
PATHS: Final = "VALUES ($columns) { $rows } $steps"
"""Costs the blank nodes that one step of a path leads to, whatever their marks."""

# Names

SOME_IRIS: Final = (
    "SELECT ?s WHERE { { SELECT ?s WHERE { ?s $typed ?t FILTER(isIRI(?s)) } LIMIT $most } "
    "UNION { SELECT ?s WHERE { ?s ?p ?o FILTER(isIRI(?s)) } LIMIT $most } }"
)
TEXTS: Final = "{ VALUES ?s { $ids } ?s $p ?o BIND($p AS ?p) FILTER($spoken) }"
"""Costs a look-up per entity; one branch of a union per relation. With both lists in one pattern, Oxigraph forms their
product: 100 times slower."""
TEXTS_OF_ANY_LANGUAGE: Final = "{ VALUES ?s { $ids } ?s $p ?o BIND($p AS ?p) FILTER(!isIRI(?o)) }"
"""As TEXTS, without the condition on the language.

Virtuoso 7 does not compile a union of two branches with `isLiteral` (SP031).
"""
TYPES: Final = "{ VALUES ?s { $ids } ?s $p ?o BIND($p AS ?p) FILTER(isIRI(?o)) }"
"""Costs a look-up for each entity."""
WITH_OUTGOING_EDGES: Final = "SELECT ?s WHERE { VALUES ?s { $ids } FILTER EXISTS { ?s ?p ?o } }"
"""Costs a look-up for each entity."""
WITH_NAMES: Final = "{ VALUES ?o { $texts } ?s $p ?o BIND($p AS ?p) }"
"""Costs a look-up per text."""
OF_TYPES: Final = "SELECT DISTINCT ?s WHERE { VALUES ?s { $ids } ?s $typed ?t FILTER(?t IN ($types)) }"
"""Costs a look-up for each entity."""

# Nodes and values

WITH_TYPE: Final = "?s $typed ?t FILTER(?t IN ($types))"
WITH_ONE_TYPE: Final = "?s $typed $type ."
EVERY: Final = "{ ?s ?any ?o } UNION { ?o ?any ?s } FILTER(isIRI(?s) || isBlank(?s))"
"""Costs every triple of the graph twice."""
EVERY_BUT_STATEMENTS: Final = (
    f"{{ ?s ?any ?o }} UNION {{ ?o ?any ?s FILTER(?any != <{_RDF}predicate>) }} "
    f"FILTER((isIRI(?s) || isBlank(?s)) && ?s != <{_RDF}Statement>)"
)
"""Costs the same. What occurs only in statements about triples is not a node."""
WITH_PROPERTY: Final = "?s $having ?o ."
WITH_TEXT: Final = "?s $having ?o . FILTER($equal)"
"""Costs 0.5 us per value of the property, in any of the queries of nodes."""
EQUAL_OR_NODE: Final = "(isLiteral(?o) && ($equal)) || ?o IN ($nodes)"
WITH_TERM: Final = "VALUES ?o { $terms } ?s $having ?o ."
VALUES: Final = "SELECT DISTINCT ?v WHERE { $conditions } OFFSET $skip LIMIT $most"
"""Costs 1 us for each value of the property."""
COUNTED_VALUES: Final = "SELECT ?v (COUNT($counted) AS ?n) WHERE { $conditions } GROUP BY ?v OFFSET $skip LIMIT $most"
"""Costs 2 us per value of the property."""
VALUE_COUNT: Final = "SELECT (COUNT(DISTINCT ?v) AS ?n) WHERE { $conditions }"
"""Costs 1 us for each value of the property."""
SOME_NODES: Final = "SELECT (COUNT(*) AS ?n) WHERE { { SELECT DISTINCT ?s WHERE { $conditions } LIMIT $most } }"
SOME_VALUES: Final = "SELECT (COUNT(*) AS ?n) WHERE { { SELECT DISTINCT ?v WHERE { $conditions } LIMIT $most } }"
"""Costs 1 us for each node or value counted ($most); used where a query for all of them could not be stopped."""
USED_VALUE: Final = "{ SELECT ($value AS ?v) WHERE { ?s $relation $value } LIMIT 1 }"
"""Costs a look-up. Virtuoso 7.2.5 leaves out literals of `VALUES ?v { } FILTER EXISTS { }`; with nodes, it may end."""
NODE_VALUES: Final = "?s $having ?v . FILTER(isLiteral(?v))"

# The schema

RELATION_COUNTS_BY_GRAPH: Final = (
    "SELECT ?p ?l (MAX(?c) AS ?n) (COUNT(*) AS ?graphs) WHERE { { SELECT ?g ?p ?l (COUNT(*) AS ?c) WHERE { "
    "GRAPH ?g { ?s ?p ?o } $among BIND(isLiteral(?o) AS ?l) } GROUP BY ?g ?p ?l } } GROUP BY ?p ?l"
)
TYPE_COUNTS_BY_GRAPH: Final = (
    "SELECT ?t (MAX(?c) AS ?n) (COUNT(*) AS ?graphs) WHERE { { SELECT ?g ?t (COUNT(*) AS ?c) WHERE { "
    "GRAPH ?g { ?s $typed ?t } $among FILTER(isIRI(?t)) } GROUP BY ?g ?t } } GROUP BY ?t"
)
"""These cost 80 ns per triple, or type, on Virtuoso; counting each triple of several graphs once costs 2 us."""
SAMPLED_RELATIONS: Final = (
    "SELECT ?p ?l (COUNT(*) AS ?n) WHERE { { SELECT ?p ?o WHERE { ?s ?p ?o } LIMIT $sample } "
    "BIND(isLiteral(?o) AS ?l) } GROUP BY ?p ?l"
)
"""Costs 2 us per sampled triple ($sample); used where the whole graph takes too long."""
TYPED_SIZE: Final = "SELECT (COUNT(*) AS ?n) WHERE { { SELECT ?s WHERE { ?s $typed ?t } LIMIT $most } }"
"""Costs 0.2 us per type of each entity, up to $most."""
TYPE_COUNTS: Final = (
    "SELECT ?t (COUNT(*) AS ?n) WHERE {$each_once ?s $typed ?t FILTER(isIRI(?t)) $end_once} GROUP BY ?t"
)
"""Costs 2 us per type of each entity."""
SAMPLED_TYPES: Final = (
    "SELECT ?t (COUNT(*) AS ?n) WHERE { { SELECT ?t WHERE { ?s $typed ?t } LIMIT $sample } "
    "FILTER(isIRI(?t)) } GROUP BY ?t"
)
"""Costs 1 us per sampled row ($sample); used where all of them take too long."""
RELATION_USES: Final = {
    is_value: f"{{ SELECT ($p AS ?p) ({str(is_value).lower()} AS ?l) (COUNT(*) AS ?n) WHERE {{ "
    f"{{ SELECT ?s WHERE {{ ?s $p ?o FILTER({'' if is_value else '!'}isLiteral(?o)) }} LIMIT $sample }} }} }}"
    for is_value in (False, True)
}
TYPE_USES: Final = "{ SELECT ($p AS ?t) (COUNT(*) AS ?n) WHERE { { SELECT ?s WHERE { ?s $typed $p } LIMIT $sample } } }"
"""These cost 0.3 us per use of one relation or type."""


def alternatives(relations: tuple[str, ...]) -> Fragment:
    """A property path over any of the relations, given as checked terms."""
    return Fragment("|".join(relations))
