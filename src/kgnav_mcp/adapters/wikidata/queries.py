"""All queries that are sent to the endpoint of a Wikibase, each with its cost.

`?s` is the entity of the request or the head of a statement, `?st` a statement, `?o` a value. No query uses SERVICE,
and each declares its prefixes, as QLever requires. Entities are given by VALUES rather than as constants: Oxigraph
starts from VALUES, but with a constant it starts from all best-ranked statements. `$best` restricts statements to those
of the best rank, or not at all. A fragment is a part of a query; its cost is given with the query. How a row is written
depends on the form of the copy (`Form`): queries refer to its fragments by their names (`$leaving`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from kgnav_mcp.adapters.sparql_base.terms import Fragment
from kgnav_mcp.model import Direction
from kgnav_mcp.port import FarEndKind

PREFIXES: Final = """PREFIX wikibase: <http://wikiba.se/ontology#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
PREFIX schema: <http://schema.org/>
PREFIX owl: <http://www.w3.org/2002/07/owl#>
"""

WITH_TEXT: Final = (
    "{ SELECT ?s ?p ($text AS ?o) WHERE { ?s ?p $text FILTER(STRSTARTS(STR(?p), $direct_folder)) } LIMIT $most }"
)
"""Costs a look-up of the text, and a row for each triple with it: three for each statement."""

BEST: Final = Fragment("?st a wikibase:BestRank .")
RANKED: Final = Fragment("?st wikibase:rank ?rank .")
KINDS: Final = {
    None: "",
    FarEndKind.ENTITY: "FILTER(STRSTARTS(STR(?o), $entities))",
    FarEndKind.LITERAL: "FILTER(!STRSTARTS(STR(?o), $entities))",
}

# The forms of a copy


@dataclass(frozen=True, slots=True)
class Form:
    """How a copy of a Wikibase represents rows.

    Some fragments match any property and bind it to `?p`. The others match one property ($claim, $p, $direct).
    """

    folder: str
    """The path, after the base, of the predicates that lead to values."""
    statements: bool
    """Whether rows have statement nodes, `?st`, with qualifiers, ranks, references and full values."""
    every: str
    """All rows of the graph, for counting them."""
    leaving: str
    """The rows of `?s`."""
    leaving_to: str
    """The rows of `?s` with their values."""
    arriving: str
    """The rows whose value is `?s`."""
    claims: str
    """The rows of one property, for counting them."""
    valued: str
    """The rows of one property with their values, from `?s`."""
    rows: Mapping[Direction, str]
    """The rows of one property, by direction: from `?s` (including rows without a value), or from `?o`."""
    pointing: str
    """The rows of one property whose value is $s, for counting them."""


FULL: Final = Form(
    folder="/prop/statement/",
    statements=True,
    every="?st a wikibase:BestRank .",
    leaving="?s ?p ?st . $best",
    leaving_to="?s ?p ?st . $best ?st ?v ?o . FILTER(STRSTARTS(STR(?v), $value))",
    arriving="?st ?p ?s . $best FILTER(STRSTARTS(STR(?p), $value))",
    claims="VALUES ?claim { $claim } ?s ?claim ?st . $best",
    valued="?s $claim ?st . $best ?st $p ?o .",
    rows={
        Direction.OUTGOING: "?s $claim ?st . $best OPTIONAL { ?st $p ?o }",
        Direction.INCOMING: "?st $p ?o . $best ?s $claim ?st .",
    },
    pointing="?st $p $s . $best",
)
"""The full data model: every statement has a node."""

_ANY: Final = "?s ?p ?o . FILTER(STRSTARTS(STR(?p), $value))"
_ONE: Final = "?s $direct ?o ."
TRUTHY: Final = Form(
    folder="/prop/direct/",
    statements=False,
    every=_ANY,
    leaving=_ANY,
    leaving_to=_ANY,
    arriving="?x ?p ?s . FILTER(STRSTARTS(STR(?p), $value))",
    claims=_ONE,
    valued=_ONE,
    rows=dict.fromkeys(Direction, _ONE),
    pointing="?x $direct $s .",
)
"""A truthy dump: a row is a triple from an entity to the value of one of its best-ranked statements."""

# The catalogue

PROPERTIES: Final = (
    "SELECT ?s ?direct ?type WHERE { ?s wikibase:directClaim ?direct ; wikibase:propertyType ?type } "
    "OFFSET $skip LIMIT $most"
)
"""Costs a look-up for each property of the Wikibase: 13,000 on Wikidata."""
PROPERTY_LABELS: Final = (
    "SELECT ?s ?o WHERE { ?s wikibase:directClaim ?direct ; rdfs:label ?o FILTER(LANG(?o) IN ($languages)) } "
    "OFFSET $skip LIMIT $most"
)
"""Costs a look-up for each label of each property: 600,000 on Wikidata."""
UNDEFINED_LABELS: Final = (
    "SELECT ?s ?o WHERE { ?s a wikibase:Property ; rdfs:label ?o FILTER(LANG(?o) IN ($languages)) } "
    "OFFSET $skip LIMIT $most"
)
"""Costs a look-up for each label of each property, in a copy without definitions of the properties."""
UNTYPED_LABELS: Final = (
    "SELECT ?s ?o WHERE { { SELECT ?s ?o WHERE { ?s rdfs:label ?o } LIMIT $looked_at } "
    "FILTER(STRSTARTS(STR(?s), $properties) && LANG(?o) IN ($languages)) } OFFSET $skip LIMIT $most"
)
"""Costs $looked_at labels, in a copy that does not declare which entities are properties."""
LABEL_COUNT: Final = "SELECT (COUNT(*) AS ?n) WHERE { SELECT ?s WHERE { ?s rdfs:label ?o } LIMIT $most }"
"""Costs $most labels."""
ANY_USE: Final = "SELECT ?p WHERE { VALUES ?p { $predicates } ?s ?p ?o } LIMIT 1"
"""Costs a look-up for each predicate."""
FULL_VALUE_PARTS: Final = (
    "SELECT ?part WHERE { { SELECT ?v WHERE { { ?st $of_statement ?v } UNION { ?st $of_qualifier ?v } } LIMIT 1 } "
    "?v ?part ?x }"
)
"""Costs 5 triples: those of one full value."""
CLAIM: Final = "SELECT ?p WHERE { { SELECT ?st WHERE { ?st a wikibase:BestRank } LIMIT 1 } ?s ?p ?st }"
"""Costs a row. Returns a predicate that leads to a statement."""
DIRECT: Final = (
    "SELECT ?p WHERE { { { SELECT ?s WHERE { ?s $instance ?o } LIMIT 1 } BIND($instance AS ?p) } UNION "
    "{ { SELECT ?p WHERE { ?s ?p ?o } LIMIT $most } FILTER(CONTAINS(STR(?p), $folder)) } } LIMIT 1"
)
"""Costs a row where a property is used that every Wikidata copy uses, otherwise at most $most triples."""
DIRECT_CLAIM: Final = "SELECT ?s ?direct WHERE { ?s wikibase:directClaim ?direct } LIMIT 1"
"""Costs a row."""

# Entities

LABELS: Final = "SELECT ?s ?o WHERE { VALUES ?s { $ids } ?s rdfs:label ?o FILTER(LANG(?o) IN ($languages)) }"
"""Costs the labels of the entities: 1 to 300 each."""
ANY_LABELS: Final = "SELECT ?s ?o WHERE { VALUES ?s { $ids } ?s rdfs:label ?o }"
"""Costs the labels of the entities, which are all transferred."""
DESCRIPTIONS: Final = """SELECT ?s ?o WHERE {
  VALUES ?s { $ids } ?s schema:description ?o FILTER(LANG(?o) IN ($described_in)) }"""
"""Costs the descriptions of the entities."""
ABOUT: Final = """SELECT ?s ?p ?o WHERE {
  { VALUES ?s { $ids } ?s $instance ?o BIND("type" AS ?p) } UNION
  { VALUES ?s { $ids } ?s owl:sameAs ?o BIND("same" AS ?p) } }"""
"""Costs a few rows for each entity."""
EXISTING: Final = "SELECT DISTINCT ?s WHERE { VALUES ?s { $ids } ?s ?p ?o }"
"""Costs the triples of the entities, which have neither a label nor a class."""
SIZES: Final = """SELECT ?s ?p ?o WHERE {
  { VALUES ?s { $ids } ?s wikibase:statements ?o BIND("statements" AS ?p) } UNION
  { VALUES ?s { $ids } ?s wikibase:sitelinks ?o BIND("sitelinks" AS ?p) } UNION
  { VALUES ?s { $ids } ?d schema:about ?s ; wikibase:statements ?o BIND("statements" AS ?p) } UNION
  { VALUES ?s { $ids } ?d schema:about ?s ; wikibase:sitelinks ?o BIND("sitelinks" AS ?p) } }"""
"""Costs a look-up for each entity and each of its sitelinks."""

# How many statements there are around entities

COUNTS: Final = {
    Direction.OUTGOING: "SELECT ?s ?p (COUNT(*) AS ?n) WHERE { VALUES ?s { $s } $leaving } GROUP BY ?s ?p",
    Direction.INCOMING: "SELECT ?s ?p (COUNT(*) AS ?n) WHERE { VALUES ?s { $s } $arriving } GROUP BY ?s ?p",
}
"""Costs the outgoing, or the incoming, triples of the entities."""
COUNTS_BY: Final = {
    Direction.OUTGOING: "{ SELECT ($number AS ?number) ?s (COUNT(*) AS ?n) WHERE { VALUES ?s { $s } $rows } "
    "GROUP BY ?s }",
    Direction.INCOMING: "{ SELECT ($number AS ?number) ?o (COUNT(*) AS ?n) WHERE { VALUES ?o { $s } $rows } "
    "GROUP BY ?o }",
}
"""Costs the statements of one property of the entities."""
ENTITY_COUNTS: Final = (
    "SELECT ?s ?p (COUNT(*) AS ?n) WHERE { VALUES ?s { $s } $leaving_to "
    "FILTER(STRSTARTS(STR(?o), $entities)) } GROUP BY ?s ?p"
)
"""Costs the triples of all statements of the entities. Counts those whose value is an entity."""
PROBE: Final = {
    Direction.OUTGOING: "SELECT (COUNT(*) AS ?n) WHERE { SELECT ?p WHERE { VALUES ?s { $s } $leaving } LIMIT $most }",
    Direction.INCOMING: "SELECT (COUNT(*) AS ?n) WHERE { SELECT ?p WHERE { VALUES ?s { $s } $arriving } LIMIT $most }",
}
"""Costs $most statements, where the endpoint evaluates lazily."""
POINTING: Final = "SELECT (COUNT(*) AS ?n) WHERE { SELECT ?x WHERE { VALUES ?s { $s } ?x ?p ?s } LIMIT $most }"
"""Costs $most triples."""
LEADING: Final = "SELECT ?direct WHERE { VALUES ?direct { $directs } FILTER EXISTS { ?x ?direct $s } }"
"""Costs a look-up for each property. Finds the relations of a hub without reading its rows."""
AT_MOST: Final = (
    "{ { SELECT (COUNT(*) AS ?n) WHERE { SELECT * WHERE { $pointing } LIMIT $most } } BIND($number AS ?number) }"
)
"""Costs $most rows."""
SOME_RELATIONS: Final = (
    "SELECT DISTINCT ?p WHERE { { SELECT ?p WHERE { VALUES ?s { $s } ?st ?p ?s } LIMIT $most } "
    "FILTER(STRSTARTS(STR(?p), $value)) }"
)
"""Costs $most triples. Finds some relations of a hub, for use without a catalogue."""

# Statements around entities

AROUND: Final = {Direction.OUTGOING: "VALUES ?s { $s } $rows", Direction.INCOMING: "VALUES ?o { $s } $rows"}
ROWS: Final = {side: f"{{ {around} BIND($number AS ?number) }}" for side, around in AROUND.items()}
"""Costs the statements of one property of the entities. For a statement without a value, `?o` is unbound."""
SLICE: Final = "SELECT * WHERE { VALUES ?o { $s } $rows } OFFSET $skip LIMIT $most"
"""Costs the statements that are skipped and read, in the order of the endpoint's index."""
SORTED: Final = "SELECT * WHERE { VALUES ?o { $s } $rows $beyond } ORDER BY STR(?s) LIMIT $most"
"""Costs 30 us per statement that points at the entity on Blazegraph, which sorts all that follow."""
EXAMPLES: Final = {
    Direction.OUTGOING: "{ { SELECT ?o (MIN(?s) AS ?head) (MIN(?st) AS ?one) WHERE { VALUES ?s { $s } $rows $kind } "
    "GROUP BY ?o LIMIT $most } BIND($number AS ?number) }",
    Direction.INCOMING: "{ { SELECT DISTINCT ?s WHERE { VALUES ?o { $s } $rows $kind } LIMIT $most } "
    "BIND($number AS ?number) }",
}
"""Costs the statements of one property of the entities; of incoming statements, only a few."""
EDGES: Final = (
    "SELECT ?s ?p ?st ?o WHERE { VALUES ?s { $s } $of $leaving_to FILTER(STRSTARTS(STR(?o), $entities)) $between }"
)
"""Costs the triples of all statements of the entities, or of those of some properties."""
OF_PROPERTIES: Final = "VALUES ?p { $predicates }"
BETWEEN: Final = "FILTER(?o IN ($tails))"
QUALIFIED: Final = (
    "SELECT ?s ?p ?st ?o WHERE { { SELECT DISTINCT ?s ?p ?st WHERE { VALUES ?x { $s } ?st ?q ?x . $best ?s ?p ?st "
    "FILTER(STRSTARTS(STR(?q), $qualifier)) } LIMIT $most } OPTIONAL { ?st ?v ?o FILTER(STRSTARTS(STR(?v), $value)) } }"
)
"""Costs the triples that point at the entity, up to $most statements with it as a qualifier, and their triples."""
DETAILS: Final = "SELECT ?st ?p ?o WHERE { VALUES ?st { $statements } ?st ?p ?o }"
"""Costs the triples of the statements: 5 to 40 each."""
FULL_VALUES: Final = "SELECT ?v ?p ?o WHERE { VALUES ?v { $nodes } ?v ?p ?o }"
"""Costs 5 triples for each value."""

# Finding by label

WITH_NAMES: Final = (
    "SELECT ?s ?p ?o WHERE { VALUES ?p { rdfs:label skos:altLabel } VALUES ?o { $texts } ?s ?p ?o "
    "FILTER(STRSTARTS(STR(?s), $entities)) } LIMIT $most"
)
"""Costs a look-up for each text."""
SCAN: Final = (
    "SELECT ?s ?p ?o WHERE { VALUES ?p { rdfs:label skos:altLabel } ?s ?p ?o "
    "FILTER(($condition) && STRSTARTS(STR(?s), $entities)) } LIMIT $most"
)
"""Costs every label of the graph: for small copies only."""
OF_CLASS: Final = "SELECT DISTINCT ?s WHERE { VALUES ?s { $ids } VALUES ?c { $types } ?s $instance ?c }"
"""Costs a look-up for each entity and class."""

# Nodes and values

IN_CLASS: Final = "VALUES ?c { $types } ?s $instance ?c ."
WITH_PROPERTY: Final = "?s $direct ?any ."
WITH_TERMS: Final = "VALUES ?any { $terms } ?s $direct ?any ."
WITH_EQUAL: Final = "?s $direct ?any . FILTER($equal)"
WITH_EITHER: Final = "?s $direct ?any . FILTER($equal || ?any IN ($terms))"
WITH_MOMENT: Final = (
    "?s $direct ?any . FILTER((?any >= $first && ?any < $after) || "
    '(?any >= $first_day && ?any < $day_after && REGEX(STR(?any), "T00:00:00Z?$")))'
)
"""Like the two templates before, it costs every value of the property in each query of nodes.

A time at midnight is shown as its day.
"""
WITH_TIME: Final = (
    "{ VALUES ?t { $days } ?v wikibase:timeValue ?t ; wikibase:timePrecision ?q . "
    "FILTER(?q = 9 || (?q = 10 && ?t >= $first_of_month && ?t < $month_after) "
    "|| (?q = 11 && ?t >= $first_day && ?t < $day_after)) } UNION "
    "{ VALUES ?q { 12 13 14 } ?v wikibase:timePrecision ?q ; wikibase:timeValue ?t . "
    "FILTER(?t >= $first && ?t < $after) } ?st $full ?v . $best ?s $claim ?st ."
)
"""Costs a look-up for each day of a year, and all times that are more precise than a day: Wikidata has none.

A precision is 9 for a year, 10 for a month, 11 for a day."""
WITH_LABEL: Final = "?s rdfs:label ?any . FILTER(STRSTARTS(STR(?s), $entities))"
EVERY: Final = (
    "{ ?s rdfs:label ?any } UNION { ?s ?said ?any FILTER(?said != owl:sameAs && !STRSTARTS(STR(?s), $statements)) } "
    "FILTER(STRSTARTS(STR(?s), $entities))"
)
"""Costs the labels that are read; if these are not enough, every triple of the graph. Redirects are excluded."""
UP_TO_NODES: Final = "SELECT (COUNT(*) AS ?n) WHERE { SELECT DISTINCT ?s WHERE { $conditions } LIMIT $most }"
"""Costs $most nodes."""
OF_NODES: Final = "$claims $class"
OF_EDGES: Final = "$owned $best"
OWNED: Final = "?st $owner ?x ."
PLAIN: Final = "$of ?st $p ?o ."
_UNKNOWN: Final = "UNION { $of ?st $p ?o FILTER(!isLiteral(?o)) }"
"""Unknown values, which have no full value."""
TIMES: Final = (
    "{ $of ?st $full ?v . ?v wikibase:timeValue ?o ; wikibase:timePrecision ?q . "
    f"OPTIONAL {{ ?v wikibase:timeCalendarModel ?u }} }} {_UNKNOWN}"
)
AMOUNTS: Final = (
    f"{{ $of ?st $full ?v . ?v wikibase:quantityAmount ?o . OPTIONAL {{ ?v wikibase:quantityUnit ?u }} }} {_UNKNOWN}"
)
VALUES: Final = "SELECT DISTINCT ?o ?q ?u WHERE { $conditions } OFFSET $skip LIMIT $most"
"""Costs the values of the property that are skipped and read."""
COUNTED_VALUES: Final = (
    "SELECT ?o ?q ?u (COUNT($counted) AS ?n) WHERE { $conditions } GROUP BY ?o ?q ?u OFFSET $skip LIMIT $most"
)
"""Costs every value of the property."""
IS_QUALIFIER: Final = "SELECT ?st WHERE { ?st $p ?o } LIMIT 1"
"""Costs a row."""


USES: Final = "SELECT ?p (COUNT(*) AS ?n) WHERE { $leaving } GROUP BY ?p"
"""Costs every statement of the graph, and a look-up of its rank."""
_BY_PROPERTY: Final = "SELECT ?p (COUNT(*) AS ?m) WHERE { ?property wikibase:claim ?p . ?s ?p ?st } GROUP BY ?p"
_LOWER_RANKS: Final = """SELECT ?p (0 - COUNT(DISTINCT ?st) AS ?m) WHERE {
  { ?st wikibase:rank wikibase:DeprecatedRank . ?s ?p ?st } UNION
  { ?best wikibase:rank wikibase:PreferredRank . ?s ?p ?best . ?s ?p ?st . ?st wikibase:rank wikibase:NormalRank }
} GROUP BY ?p"""
USES_OF_DEFINED: Final = {
    every_rank: f"SELECT ?p (SUM(?m) AS ?n) WHERE {{ {numbers} }} GROUP BY ?p HAVING (SUM(?m) > 0)"
    for every_rank, numbers in (
        (True, f"{{ {_BY_PROPERTY} }}"),
        (False, f"{{ {_BY_PROPERTY} }} UNION {{ {_LOWER_RANKS} }}"),
    )
}
"""Costs every statement of the graph: all are counted, then the few of lower ranks are subtracted."""
FIRST_VALUE: Final = (
    "{ SELECT ($number AS ?number) ?o WHERE { ?x $p ?o "
    "FILTER(!isBlank(?o) && !CONTAINS(STR(?o), '/.well-known/genid/')) } LIMIT 1 }"
)
"""Costs the unknown values of a property that come first, and one more."""
USE: Final = "SELECT (COUNT(*) AS ?n) WHERE { $claims }"
"""Costs the statements of one property."""
CLASSES: Final = "SELECT ?o (COUNT(*) AS ?n) WHERE { ?s $instance ?o } GROUP BY ?o"
"""Costs a row for each class of each entity."""
SOME_CLASSES: Final = (
    "SELECT ?o (COUNT(*) AS ?n) WHERE { { SELECT ?o WHERE { ?s $instance ?o } LIMIT $most } } GROUP BY ?o"
)
"""Costs $most rows."""
QUALIFIERS: Final = (
    "SELECT DISTINCT ?q WHERE { { SELECT ?st WHERE { $claims } LIMIT $most } ?st ?q ?o "
    "FILTER(STRSTARTS(STR(?q), $qualifier)) }"
)
"""Costs the triples of $most statements."""
_OF_CLASS: Final = "SELECT ?p (COUNT(*) AS ?n) WHERE { { SELECT ?s WHERE { ?s $instance $of_class } LIMIT $most } "
AT_CLASS: Final = {
    Direction.OUTGOING: f"{_OF_CLASS}$leaving }} GROUP BY ?p",
    Direction.INCOMING: f"{_OF_CLASS}$arriving }} GROUP BY ?p",
}
"""Costs the statements of $most entities."""
ROW_COUNT: Final = "SELECT (COUNT(*) AS ?n) WHERE { SELECT * WHERE { $every } LIMIT $most }"
"""Costs $most rows."""

# Patterns of plans

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
"""Costs the uses of the qualifier with these values. Each of the following templates costs all uses of the qualifier.
"""
QUALIFIED_BY_TEXT: Final = f"{_QUALIFIED} FILTER(STR($value) IN ($texts))"
QUALIFIED_BY_BEGINNING: Final = f"{_QUALIFIED} FILTER(STRSTARTS(STR($value), $text))"
QUALIFIED_BY_NUMBER: Final = (
    f"{_QUALIFIED} FILTER(<http://www.w3.org/2001/XMLSchema#double>(STR($value)) IN ($numbers))"
)
QUALIFIED_BY_LABEL: Final = f"{_QUALIFIED} FILTER EXISTS {{ $value rdfs:label ?label FILTER(STR(?label) IN ($texts)) }}"
"""The label may be in any language, like the one that is shown."""
QUALIFIED_BY_NODE: Final = "$statement ($qualifiers) $value ."
"""Costs the uses of the qualifiers with the node, if another part of the query binds that node."""
REACHES: Final = f"$source ($relations)$edges $target . {_TO_ENTITY}"
"""Follows the values of the best-ranked statements."""
