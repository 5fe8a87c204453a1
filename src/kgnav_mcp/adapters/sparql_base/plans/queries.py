"""SPARQL templates for the patterns of plans.

`?n0`, `?n1` and so on are the nodes of a pattern. For the edge number 0, `?p0` is the relation if it may have several,
`?m0` the mediator, and `?w0` the way that it leads if it may lead either way. A fragment is a part of a query, which
states the cost.
"""

from __future__ import annotations

from typing import Final

from kgnav_mcp.adapters.sparql_base.queries import DOUBLE, NOT_NAN

MATCH_PATTERN: Final = "SELECT $nodes ($number AS ?n) $size WHERE { $pattern } $groups $order OFFSET $skip LIMIT $most"
"""Costs the matching of the pattern, and the grouping of the matches by $nodes."""
LISTED: Final = (
    "SELECT ?n ?t WHERE { { SELECT (COUNT(*) AS ?n) WHERE { $listing } } "
    "{ SELECT (COUNT(*) AS ?t) WHERE { { SELECT DISTINCT $nodes WHERE { $listing } } } } }"
)
WINDOW: Final = "{ SELECT $nodes WHERE { $listing } OFFSET $skip LIMIT $most }"
COUNTED: Final = "COUNT($counted)"
SEVERAL: Final = "IF(COUNT(*) = 1, COALESCE(), COUNT(*))"
"""The number of matches of a group; unbound if it is 1.

Virtuoso refuses it beside some conditions, paths and labels.
"""
GROUP_SIZE: Final = "(COUNT(*) AS ?size)"
BOUNDED: Final = "{ SELECT$distinct * WHERE { $pattern } LIMIT $most }"
"""Ends after $most matches. It is for stores without a time limit."""
BOUNDED_COUNT: Final = "SELECT (COUNT(*) AS ?size) WHERE { $pattern }"
WITH_VALUES: Final = "SELECT $columns ?n $size WHERE { { $matches } $values }"
"""Costs as much as MATCH_PATTERN, and a look-up for each property of each match."""
OF_NODE: Final = "OPTIONAL { $node $property $value }"
MATCHES_BY_VALUES: Final = (
    "SELECT $columns $results ?size ?total WHERE { { SELECT $columns $numbers (COUNT(*) AS ?size) "
    "WHERE { $pattern_with_values } $groups LIMIT $most } "
    "UNION { SELECT (COUNT(*) AS ?total) WHERE { $pattern } } }"
)
"""Costs the matching of the pattern twice, and a look-up for each value of each match.

The counts of the groups add up to the total exactly if each node of a match has at most one value.
"""
MATCHES_WITH_VALUES: Final = "SELECT $columns WHERE { $pattern_with_values } LIMIT $most"
"""Costs the matching of the pattern up to $most matches, and a look-up for each value of each match."""
DISTINCT_VALUES: Final = "SELECT DISTINCT $columns WHERE { $pattern_with_values } LIMIT $most"
"""Costs the matching of the pattern, a look-up for each value of each match, and up to $most rows."""
NO_VALUE_IRI: Final = "tag:kgnav,2026:none"
KEY: Final = "OPTIONAL { $values } BIND(COALESCE($shown, $none) AS $key)"
"""A key is always bound: Virtuoso 7.2 gives groups with an unbound key the key of another group.

Unlike OF_NODE, it may be repeated: groups of up to eight keys were right there in thousands of random plans.
"""
FIRST_LETTERS: Final = 'CONCAT(STR(DATATYPE($value)), " ", SUBSTR(STR($value), 1, $number))'
"""A literal as its datatype and first characters. It is always a text: Virtuoso is a hundred times slower if not."""
LIST_KEY: Final = (
    'OPTIONAL { SELECT $node (COUNT(*) AS $size) (GROUP_CONCAT($item; separator=" ") AS $items) '
    "WHERE {$each_once $values $end_once} GROUP BY $node } "
    'BIND(IF(BOUND($size), CONCAT(STR($size), " ", $items), "0") AS $key)'
)
"""Costs a look-up for each value of the property, and those of each match. A key is their number and the values."""
PROPERTY_VALUES: Final = "$node $property $value"
PROPERTY_ITEM: Final = (
    'IF(isLiteral($value), CONCAT(ENCODE_FOR_URI(STR($value)), "|", STR(DATATYPE($value)), "|", LANG($value)), "node")'
)
TYPES: Final = "$node $typed $value FILTER(isIRI($value))"
TYPE_ITEM: Final = "STR($value)"
NUMBER: Final = "(COUNT($counted) AS ?n)"
MEASURED: Final = (
    "BIND(COALESCE(DATATYPE(?measuredv), $none) AS ?kind) BIND(IF(?kind IN ($whole), ?measuredv, "
    "IF(?kind IN ($fractions), <http://www.w3.org/2001/XMLSchema#decimal>(STR(?measuredv)), 0)) AS ?number)"
)
"""Fractions are added as decimals: Virtuoso prints six digits of a double."""
MEASURES: Final = (
    "(COUNT(?measuredv) AS ?n) (COUNT(?number) AS ?numbers) (SUM(?number) AS ?sum) (MIN(?measuredv) AS ?min) "
    "(MAX(?measuredv) AS ?max)"
)
MEASURE_RESULTS: Final = "?n ?numbers ?sum ?min ?max"
MATCHES: Final = "SELECT (COUNT(*) AS ?n) WHERE { { SELECT DISTINCT $nodes WHERE { $pattern } LIMIT $most } }"
"""Costs the matching of the pattern up to the last of $most matches."""
GROUPED: Final = "GROUP BY $nodes"
LARGEST_FIRST: Final = "ORDER BY DESC(?n)"
AT_LEAST: Final = "HAVING (COUNT($counted) >= $least)"
EACH: Final = "*"
DIFFERENT: Final = "DISTINCT $node"

EDGE: Final = "$source $relation $target ."
NO_VALUE: Final = "FILTER(!isLiteral($node))"
IRI: Final = "FILTER(isIRI($node))"
REACHES: Final = "$source ($relations)$edges $target . FILTER(!isLiteral($target))"
ANY_NUMBER: Final = "*"
AT_LEAST_ONE: Final = "+"
AMONG: Final = "VALUES $relation { $relations }"
TWO_HOPS: Final = "$source $near $via . $mediator $via $far $target . FILTER($source != $target)"
LABELLED: Final = "$node $typed $type ."
HAS_LABEL: Final = "EXISTS { $node $typed ?type FILTER(?type IN ($types)) }"
INSTANCES: Final = "{ SELECT DISTINCT $node WHERE { $node $typed ?type FILTER(?type IN ($types)) } }"
WITHIN: Final = f"{DOUBLE} $sign $number"
AMONG_NUMBERS: Final = f"{DOUBLE} IN ($numbers)"
HAS_NUMBER: Final = (
    "EXISTS { VALUES ?relation { $relations } $node ?relation ?value "
    f"FILTER(DATATYPE(?value) IN ($numbers) && $within && {NOT_NAN}) }}"
)
"""Numbers are compared as doubles read from their texts, whatever their datatypes."""
HAS_PREFIX: Final = (
    "EXISTS { $node $relation ?value FILTER(isLiteral(?value) && STRSTARTS(STR(?value), $text) && $is_text) }"
)
NO_NUMBER: Final = (
    "!(DATATYPE(?value) IN ($numbers) && REGEX(STR(?value), $form)) "
    "&& !(DATATYPE(?value) = <http://www.w3.org/2001/XMLSchema#boolean> && STR(?value) IN ($truths))"
)
"""A malformed number is a text."""
EQUAL: Final = "{ SELECT DISTINCT $node WHERE { $pattern } }"
"""Costs a look-up for each literal, and for each node with it; on Oxigraph also for each node of the pattern."""
WITH_TEXT: Final = (
    "{ SELECT DISTINCT $node WHERE { VALUES ?relation { $relations } $node ?relation ?value FILTER($condition) } }"
)
"""Costs a test of each value of the properties."""
IS_LITERAL: Final = "isLiteral(?value)"
CONTAINS_TEXT: Final = "isLiteral(?value) && CONTAINS(STR(?value), $text)"
"""Not for the empty text: no text of Virtuoso contains it."""
NAMED: Final = "FILTER(!isBlank($node))"
"""Excludes blank nodes from lists of nodes, on stores where they have no ids."""

GIVEN: Final = "VALUES ($nodes) { $rows }"
ONE_OF: Final = "VALUES $node { $terms }"
FILTER: Final = "FILTER($condition)"
EITHER_WAY: Final = "{ $forth $is_forth } UNION { $back FILTER(($source != $target) = true) $is_back }"
"""Matches an edge in both directions. An edge from a node to itself matches only once."""
WAY: Final = "VALUES $way { $number }"
"""The direction of an edge. Virtuoso 7.2.5 loses rows if this is a BIND beside `EXISTS { { } UNION { FILTER } }`."""
INNER_WAY: Final = "BIND($number AS $way)"
"""The same in a condition, where Virtuoso loses rows with VALUES."""
FORTH: Final = "1"
BACK: Final = "2"
OTHER_WAYS: Final = "(($one != $other) = true || $straight) && ($one = $other || $crossed)"
"""The condition that two edges differ in their ends, at least one of which matches in both directions."""
IS_ONE_OF: Final = "$node IN ($terms)"
SAME: Final = "($one = $other) = true"
"""Beside VALUES of several variables Virtuoso 7.2.5 mixes their rows with `FILTER($one = $other)`."""
DIFFERS: Final = "($one != $other) = true"
"""Virtuoso 7.2.5 ignores `FILTER($one != $other)` beside some filters with EXISTS where there is a BIND."""
EXISTS: Final = "EXISTS { $pattern }"
NOT_EXISTS: Final = "NOT EXISTS { $pattern }"
NOT: Final = "!($condition)"
NO: Final = "false"
"""The condition that two edges differ, where they can only be the same edge."""
NOTHING: Final = "FILTER(false)"
TRUE: Final = "true"
