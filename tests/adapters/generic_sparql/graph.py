"""A small graph with what the toy graph does not have: blank nodes, statements in RDF 1.1's form, several graphs."""

from __future__ import annotations

GRAPH = "http://ex.example/small"
NS = "http://ex.example/"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

BLANKS = f"""\
PREFIX ex: <{NS}> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> PREFIX rdf: <{RDF}>
ex:ada rdfs:label "Ada"@en ; rdf:type ex:Person ;
    ex:address [ ex:city ex:york ; ex:street "High Street" ; ex:geo [ ex:lat 53.9 ; ex:long -1.1 ] ] ,
               [ ex:city ex:leeds ; ex:street "Low Street" ] ,
               [ rdfs:label "The Attic"@en ] ;
    ex:wedding _:w .
ex:ben rdfs:label "Ben"@en ; rdf:type ex:Person ; ex:wedding _:w ; ex:twin [] , [] .
_:w ex:spouse ex:ada , ex:ben ; ex:year 1835 .
ex:york rdfs:label "York"@en . ex:leeds rdfs:label "Leeds"@en .
ex:birthPlace rdfs:label "born in"@en .
ex:list ex:items ( "one" "two" ) .
"""

STATEMENTS = f"""\
PREFIX ex: <{NS}> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> PREFIX rdf: <{RDF}>
ex:cyd rdfs:label "Cyd"@en ; ex:livesIn ex:york ; ex:knows ex:dan .
ex:dan rdfs:label "Dan"@en . ex:york rdfs:label "York"@en .
[] rdf:type rdf:Statement ; rdf:subject ex:cyd ; rdf:predicate ex:livesIn ; rdf:object ex:york ; ex:since 1840 ;
   ex:source ex:dan .
"""

NAMED_STATEMENTS = STATEMENTS.replace("[] rdf:type", "ex:statement rdf:type")

REIFIERS = f"""\
PREFIX ex: <{NS}> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
ex:cyd rdfs:label "Cyd"@en . ex:york rdfs:label "York"@en . ex:dan rdfs:label "Dan"@en .
ex:cyd ex:livesIn ex:york {{| ex:since 1840 ; ex:source ex:dan |}} .
"""
