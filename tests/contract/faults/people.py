"""People who know each other, written for each adapter, with the ids that the adapter prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from rdflib import RDF, RDFS, Literal, URIRef

from kgnav_bench.wikibase import Value, Wikibase
from tests.adapters.generic_sparql.inprocess import HERE
from tests.contract.toy_wikibase import values_only


@dataclass(frozen=True)
class Person:
    """Someone of type Person, with the numbers of those whom they know. Without a name, of no type."""

    number: int
    name: str
    knows: Sequence[int] = ()
    age: Literal | None = None


ANN, BOB, CYD = 1, 2, 3
PEOPLE = (
    Person(ANN, "Ann", (BOB, CYD), Literal(30)),
    Person(BOB, "Bob", (CYD,), Literal(40)),
    Person(CYD, "Cyd", (), Literal(50)),
)


def namesakes(number: int) -> list[Person]:
    """So many people who are called Ann, each known by another."""
    return [person for n in range(1, number + 1) for person in (Person(n, "Ann"), Person(fan_of(n), f"Fan {n}", (n,)))]


def fan_of(number: int) -> int:
    return 2_000 + number


@dataclass(frozen=True, kw_only=True)
class Notation:
    """How the graphs of an adapter are written, with short ids that begin with `prefix`. One triple for each fact."""

    location: str
    namespace: str
    prefix: str = ""
    node_prefix: str
    """With a number, the id of a person."""
    knows: str
    age: str
    person: str
    name: URIRef = RDFS.label
    type: URIRef = RDF.type

    def node(self, number: int) -> str:
        return f"{self.node_prefix}{number}"

    def iri(self, short: str) -> URIRef:
        return URIRef(self.namespace + short.removeprefix(self.prefix))

    def written(self, people: Sequence[Person]) -> str:
        """The graph as Turtle."""
        return "".join(f"{head.n3()} {relation.n3()} {tail.n3()} .\n" for head, relation, tail in self._triples(people))

    def _triples(self, people: Sequence[Person]) -> Iterator[tuple[URIRef, URIRef, URIRef | Literal]]:
        yield self.iri(self.person), self.name, Literal("Person", lang="en")
        for each in people:
            node = self.iri(self.node(each.number))
            if each.name:
                yield node, self.type, self.iri(self.person)
                yield node, self.name, Literal(each.name, lang="en")
            for number in each.knows:
                yield node, self.iri(self.knows), self.iri(self.node(number))
            if each.age is not None:
                yield node, self.iri(self.age), each.age


@dataclass(frozen=True, kw_only=True)
class Statements(Notation):
    """One statement of a Wikibase for each fact; in a truthy dump its value alone."""

    truthy: bool = False

    def written(self, people: Sequence[Person]) -> str:
        lines = self._lines(Wikibase(), people)
        return "".join(values_only(lines) if self.truthy else lines)

    def _lines(self, wikibase: Wikibase, people: Sequence[Person]) -> Iterator[str]:
        instance_of, knows, age = "P31", self.knows.removeprefix("wdt:"), self.age.removeprefix("wdt:")
        for local, kind in ((instance_of, "item"), (knows, "item"), (age, "quantity")):
            yield from wikibase.property(local, kind, [(local, "en")])
        yield from wikibase.item(self.person, [("Person", "en")])
        numbers = count(1)
        for each in people:
            item, *known = (f"Q1{number}" for number in (each.number, *each.knows))
            said = [(knows, Value("item", other)) for other in known]
            if each.name:
                yield from wikibase.item(item, [(each.name, "en")])
                said.append((instance_of, Value("item", self.person)))
            said += [] if each.age is None else [(age, Value("quantity", str(each.age)))]
            for local, value in said:
                yield from wikibase.statement(item, local, value, number=next(numbers))


ENDPOINT = Notation(
    location=f"{HERE}&mediators=unnamed",
    namespace="http://ex.example/",
    prefix="ex:",
    node_prefix="ex:n",
    knows="ex:knows",
    age="ex:age",
    person="ex:Person",
)
FREEBASE = Notation(
    location="freebase+http://127.0.0.1/sparql?default-graph-uri=http://g.example",
    namespace=(_NS := "http://rdf.freebase.com/ns/"),
    node_prefix="m.n",
    knows="people.person.knows",
    age="people.person.age",
    person="people.person",
    name=URIRef(f"{_NS}type.object.name"),
    type=URIRef(f"{_NS}type.object.type"),
)
WIKIDATA = Statements(
    location="wikidata+http://127.0.0.1/sparql",
    namespace="http://www.wikidata.org/entity/",
    prefix="wd:",
    node_prefix="wd:Q1",
    knows="wdt:P26",
    age="wdt:P2048",
    person="Q5",
)
TRUTHY = replace(WIKIDATA, truthy=True)
