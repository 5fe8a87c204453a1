"""Patterns of plans in SPARQL.

`?n0`, `?n1` and so on are the nodes of a pattern, `?p0` the relation of an edge that may have several, `?m0` the
mediator that one leads through, `?h0` and `?t0` the head and the tail of one that may lead either way. A fragment is a
part of a query and costs what its query says.
"""

from __future__ import annotations

from typing import Final

FITS: Final = "SELECT $nodes (COUNT($counted) AS ?n) WHERE { $pattern } $groups $order OFFSET $skip LIMIT $most"
"""Costs what the store takes to fit the pattern, and to group the times that it fits by the nodes that are told."""
GROUPED: Final = "GROUP BY $nodes"
LARGEST_FIRST: Final = "ORDER BY DESC(?n)"
AT_LEAST: Final = "HAVING (COUNT($counted) >= $least)"
EACH: Final = "*"
DIFFERENT: Final = "DISTINCT $node"

EDGE: Final = "$source $relation $target . FILTER(!isLiteral($target))"
REACHES: Final = "$source ($relations)* $target . FILTER(!isLiteral($target))"
AMONG: Final = "VALUES $relation { $relations }"
TWO_HOPS: Final = (
    "$source $near $via . $mediator $via $far $target . FILTER($source != $target) FILTER(!isLiteral($target))"
)
LABELLED: Final = "$node $typed $type ."
HAS_LABEL: Final = "EXISTS { $node $typed ?type FILTER(?type IN ($types)) }"
INSTANCES: Final = "{ SELECT DISTINCT $node WHERE { $node $typed ?type FILTER(?type IN ($types)) } }"
HAS_NUMBER: Final = (
    "EXISTS { VALUES ?relation { $relations } $node ?relation ?value "
    "FILTER(DATATYPE(?value) IN ($numbers) && <http://www.w3.org/2001/XMLSchema#double>(STR(?value)) $sign $number) }"
)
"""Numbers are compared as the fractions that their texts are, whatever their datatypes."""
NAMED: Final = "FILTER(!isBlank($node))"
"""Lists of nodes have none without an IRI."""

GIVEN: Final = "VALUES ($nodes) { $rows }"
ONE_OF: Final = "VALUES $node { $terms }"
FILTER: Final = "FILTER($condition)"
EITHER_WAY: Final = (
    "{ $forth BIND($source AS $head) BIND($target AS $tail) } UNION "
    "{ $back FILTER($source != $target) BIND($target AS $head) BIND($source AS $tail) }"
)
"""An edge from a node to itself fits once."""
IS_ONE_OF: Final = "$node IN ($terms)"
SAME: Final = "$one = $other"
DIFFERS: Final = "$one != $other"
EXISTS: Final = "EXISTS { $pattern }"
NOT: Final = "!($condition)"
NO: Final = "false"
"""What two edges are that can only be one."""
