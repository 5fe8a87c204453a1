"""The kinds of questions in hand-written SPARQL. Labels, relations, properties and values are inserted as terms."""

from __future__ import annotations

from typing import Final

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_FROM_NAME = "?x a $a ; $named $name ; $r1 ?y . ?y a $b ."

LOOK_UP: Final = "SELECT ?n WHERE { ?x a $a ; $property $value ; $named ?n } ORDER BY ?n"
ONE_HOP: Final = f"SELECT ?n WHERE {{ {_FROM_NAME} ?y $named ?n }} ORDER BY ?n"
TWO_HOPS: Final = f"SELECT DISTINCT ?n WHERE {{ {_FROM_NAME} ?y $r2 ?z . ?z a $c ; $named ?n }} ORDER BY ?n"
SAME_END: Final = (
    f"SELECT DISTINCT ?n WHERE {{ {_FROM_NAME} ?z $r1 ?y ; a $a ; $named ?n FILTER(?z != ?x) }} ORDER BY ?n"
)
TOP_TEN: Final = (
    "SELECT ?n (COUNT(?x) AS ?count) WHERE { ?x $r1 ?y ; a $a . ?y a $b ; $named ?n } "
    "GROUP BY ?y ?n ORDER BY DESC(?count) ?n LIMIT 10"
)
BY_QUALIFIER: Final = (
    f"SELECT ?n ?m WHERE {{ ?s $qualifier $said ; <{_RDF}predicate> $r1 ; <{_RDF}subject> ?x ; <{_RDF}object> ?y . "
    "?x a $a ; $named ?n . ?y a $b ; $named ?m } ORDER BY ?n ?m"
)
WITHOUT: Final = (
    "SELECT ?n WHERE { ?x a $a ; $property $value ; $named ?n FILTER NOT EXISTS { ?x $r1 ?y } } ORDER BY ?n"
)
WITH_ZEROS: Final = (
    "SELECT ?n (COUNT(?y) AS ?count) WHERE { ?x a $a ; $property $value ; $named ?n OPTIONAL { ?x $r1 ?y } } "
    "GROUP BY ?x ?n ORDER BY ?count ?n"
)
THREE_HOPS: Final = (
    "SELECT DISTINCT ?n WHERE { ?x a $a ; $named $name . "
    "{ ?x $any ?z } UNION { ?x $any/$any ?z } UNION { ?x $any/$any/$any ?z } ?z a $c ; $named ?n } ORDER BY ?n"
)
SHORTEST: Final = (
    "SELECT (MIN(?n) AS ?length) WHERE { ?x a $a ; $named $name . ?z a $c ; $named $end . "
    "{ ?x ($r1|$r2) ?z BIND(1 AS ?n) } UNION { ?x ($r1|$r2)/($r1|$r2) ?z BIND(2 AS ?n) } "
    "UNION { ?x ($r1|$r2)/($r1|$r2)/($r1|$r2) ?z BIND(3 AS ?n) } "
    "UNION { ?x ($r1|$r2)/($r1|$r2)/($r1|$r2)/($r1|$r2) ?z BIND(4 AS ?n) } }"
)
EITHER: Final = (
    "SELECT DISTINCT ?n WHERE { { ?x a $a ; $property $value } UNION { ?x a $b ; $other $stated } ?x $named ?n } "
    "ORDER BY ?n"
)
HOW_MANY: Final = "SELECT (COUNT(?x) AS ?count) WHERE { ?x a $a }"
