"""An ontology in Turtle in the shape of the Disease Ontology, generated with a seed, and any Turtle read as a graph."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path

from rdflib import OWL, RDF, RDFS, XSD, BNode, Graph, Literal, URIRef
from rdflib.term import Node as Term

from .raw_graph import Day, Edge, Node, RawGraph, Scalar, Value

FILE = "diseases.ttl"
FOLDED = "diseases-folded.ttl"
"""The same for stores that keep triples as they are: without what `kgnav load` makes edges and qualifiers of."""

_PREFIXES = """\
@prefix obo: <http://purl.obolibrary.org/obo/> .
@prefix oboInOwl: <http://www.geneontology.org/formats/oboInOwl#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix ex: <http://registry.example/terms/> .

obo:IAO_0000115 a owl:AnnotationProperty ; rdfs:label "definition" .
oboInOwl:hasExactSynonym a owl:AnnotationProperty ; rdfs:label "has_exact_synonym" .
oboInOwl:hasDbXref a owl:AnnotationProperty ; rdfs:label "database_cross_reference" .
obo:RO_0004026 a owl:ObjectProperty ; rdfs:label "disease has location" .
"""

_KINDS = ("carcinoma", "Sarcoma", "syndrome", "Wilms tumor", "anemia", "Fever", "dystrophy", "neuropathy")
_SITES = ("renal", "Hepatic", "cardiac", "ocular", "Dermal", "pulmonary", "gastric", "spinal", "neonatal")
_SOURCES = ("MESH:D{0:06}", "UMLS_CUI:C{0:07}", "OMIM:{0:06}", "ICD10CM:C{0}", "mesh:d{0:06}", "NCI:C{0}")
_DATES = ('"{0}"^^xsd:gYear', '"{0}-{1:02}"^^xsd:gYearMonth', '"{0}-{1:02}-{2:02}"^^xsd:date')


def write(folder: Path, seed: int, diseases: int) -> Path:
    """Write the ontology."""
    made = random.Random(seed)  # noqa: S311 - a repeatable graph
    blocks = [_PREFIXES]
    for number in range(diseases):
        blocks += _disease(made, number)
    for number in range(diseases // 3):
        blocks.append(_registry(made, number, diseases))
    file = folder / FILE
    file.write_text("\n".join(blocks), encoding="utf-8")
    return file


def fold(file: Path) -> Path:
    """Write the ontology with `SubClassOf (p some X)` as an edge, and without annotations of axioms.

    The annotated triples have literal tails, and no question asks for their qualifiers.
    """
    triples = Graph().parse(file, format="turtle")
    for restriction in list(triples.subjects(RDF.type, OWL.Restriction)):
        relation, filler = triples.value(restriction, OWL.onProperty), triples.value(restriction, OWL.someValuesFrom)
        if relation is None or filler is None:
            continue
        for head in list(triples.subjects(RDFS.subClassOf, restriction)):
            triples.add((head, relation, filler))
            triples.remove((head, RDFS.subClassOf, restriction))
        triples.remove((restriction, None, None))
    for axiom in list(triples.subjects(RDF.type, OWL.Axiom)):
        triples.remove((axiom, None, None))
    target = file.with_name(FOLDED)
    triples.serialize(target, format="turtle")
    return target


def read(file: Path) -> RawGraph:
    """The graph that the file holds: classes of nodes are labels, literals are properties."""
    triples = Graph().parse(file, format="turtle")
    nodes: dict[str, Node] = {}
    edges: list[Edge] = []
    keys = {subject: str(value) for subject, value in triples.subject_objects(_OBO_ID)}
    for subject in dict.fromkeys((*triples.subjects(), *_ends(triples))):
        values: defaultdict[str, set[Scalar]] = defaultdict(set)
        for predicate, tail in triples.predicate_objects(subject):
            if isinstance(tail, Literal):
                values[local(predicate)].add(scalar(tail))
            elif predicate != RDF.type:
                edges.append(Edge(keys.get(subject, str(subject)), local(predicate), keys.get(tail, str(tail))))
        labels = frozenset(local(label) for label in triples.objects(subject, RDF.type))
        key = keys.get(subject, str(subject))
        nodes[key] = Node(key, labels, {name: _value(found) for name, found in values.items()}, _is_blank(subject))
    names = frozenset({"label", "altLabel", "hasExactSynonym", "hasRelatedSynonym"})
    return RawGraph("ontology", nodes, tuple(edges), key="id", names=names, rdf=True)


_OBO_ID = URIRef("http://www.geneontology.org/formats/oboInOwl#id")
_DATE_TYPES = frozenset({XSD.date, XSD.dateTime, XSD.gYear, XSD.gYearMonth})
_INTEGERS = frozenset({XSD.integer, XSD.int, XSD.long, XSD.nonNegativeInteger})


def local(iri: Term) -> str:
    """The part of an IRI after the last `/` or `#`."""
    return str(iri).replace("#", "/").rpartition("/")[2]


def scalar(literal: Literal) -> Scalar:
    """The value of a literal."""
    if literal.datatype in _DATE_TYPES:
        return Day(literal)
    if literal.datatype in _INTEGERS:
        return int(literal)
    if literal.datatype in {XSD.decimal, XSD.double, XSD.float}:
        return float(Decimal(str(literal)))
    return str(literal) == "true" if literal.datatype == XSD.boolean else str(literal)


def _ends(triples: Graph) -> Iterator[Term]:
    return (tail for _, predicate, tail in triples if not isinstance(tail, Literal) and predicate != RDF.type)


def _is_blank(term: Term) -> bool:
    return isinstance(term, BNode)


def _value(values: set[Scalar]) -> Value:
    """One value, or several in an order that does not depend on the set."""
    several = tuple(sorted(values, key=lambda value: (str(type(value)), value)))
    return several[0] if len(several) == 1 else several


def _disease(made: random.Random, number: int) -> Iterator[str]:
    kind, site = made.choice(_KINDS), made.choice(_SITES)
    label = f"{site} {kind} {number}"
    synonyms = [f"{kind} of {site.lower()} tissue {number}" if n else label.upper() for n in range(made.randrange(4))]
    lines = [f"obo:DOID_{number} a owl:Class", f"rdfs:label {_text(label)}", f'oboInOwl:id "DOID:{number}"']
    lines += [f"oboInOwl:hasExactSynonym {_text(text)}" for text in (f"{s} ({n})" for n, s in enumerate(synonyms))]
    lines += [f"oboInOwl:hasRelatedSynonym {_text(f'{kind} type {n}')}" for n in range(made.randrange(3))]
    lines += [f'oboInOwl:hasDbXref "{_xref(made)}"' for _ in range(made.randrange(6))]
    lines += [f"skos:altLabel {_text(f'{kind[:3]}-{site[:3]} {number}')}" for _ in range(number % 3 == 0)]
    lines += [f"ex:stage {made.choice((1, 2, 3, 4, 9, 12))}" for _ in range(made.randrange(4))]
    lines += [f"ex:prevalence {made.choice(('2.0', '0.5', '1.25', '3.0e0', '10.0'))}" for _ in range(number % 4 > 0)]
    lines += [f"ex:cases {made.choice((0, 2, 3, 10, 100, 9007199254740993))}" for _ in range(number % 5 > 0)]
    lines += [f"ex:described {_date(made)}" for _ in range(number % 6 > 0)]
    reviewed = [_date(made) for _ in range(made.randrange(3))]
    lines += [f"ex:reviewed {date}" for date in {_first_day(date): date for date in reviewed}.values()]
    lines += [f"owl:deprecated {made.choice(('true', 'false'))}" for _ in range(number % 3 == 1)]
    lines += [f'ex:note "{made.choice(("", "plain", "two" + chr(92) + "nlines"))}"' for _ in range(number % 4 == 1)]
    lines += [f'obo:IAO_0000115 "A {kind} that is located in the {site} system."@en']
    lines += [f"rdfs:subClassOf obo:DOID_{made.randrange(number)}" for _ in range(min(number, made.choice((1, 1, 2))))]
    if number % 4 == 2:
        filler = f"owl:someValuesFrom obo:DOID_{made.randrange(number)}"
        lines.append(f"rdfs:subClassOf [ a owl:Restriction ; owl:onProperty obo:RO_0004026 ; {filler} ]")
    yield " ;\n    ".join(lines) + " ."
    for place, synonym in enumerate(synonyms[:1]):
        yield _axiom(made, number, f"{synonym} ({place})")


def _axiom(made: random.Random, number: int, synonym: str) -> str:
    return (
        f"[] a owl:Axiom ; owl:annotatedSource obo:DOID_{number} ; owl:annotatedProperty oboInOwl:hasExactSynonym ;\n"
        f'    owl:annotatedTarget {_text(synonym)} ; oboInOwl:hasDbXref "{_xref(made)}" .'
    )


def _registry(made: random.Random, number: int, diseases: int) -> str:
    """A registry with an address, a blank node that has a place, a blank node too."""
    place = f"[ a ex:Geo ; ex:latitude {made.choice(('1.5', '2.0', '48.25'))} ; ex:zone {made.randrange(4)} ]"
    address = (
        f'[ a ex:Address ; ex:street "Street {made.randrange(20)}" ; ex:zip {made.randrange(9)} ; ex:geo {place} ]'
    )
    covered = " , ".join(
        f"obo:DOID_{n}" for n in sorted({made.randrange(diseases) for _ in range(made.randrange(1, 6))})
    )
    lines = [
        f'ex:registry{number} a ex:Registry ; rdfs:label "Registry {number}" ; oboInOwl:id "REG:{number}"',
        f"ex:covers {covered}",
        "ex:reports obo:DOID_0",
        f"ex:address {address}",
    ]
    return " ;\n    ".join(lines) + " ."


def _xref(made: random.Random) -> str:
    return made.choice(_SOURCES).format(made.randrange(5000))


def _date(made: random.Random) -> str:
    return made.choice(_DATES).format(made.randrange(1990, 2020), made.randrange(1, 13), made.randrange(1, 29))


def _first_day(date: str) -> str:
    """The first day of a date. Virtuoso keeps one of a node's values that begin at once."""
    return (date.split('"')[1] + "-01-01")[:10]


def _text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def sources(folder: Path) -> Sequence[Path]:
    """The files to load into a store."""
    return (folder / FILE,)
