"""People who know each other, written for each adapter, with the ids that the adapter prints."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

from rdflib import RDF, RDFS, Literal, URIRef

from kgnav_bench.wikibase import Value, Wikibase
from tests.adapters.endpoint.inprocess import HERE


@dataclass(frozen=True)
class Person:
    """Someone of type Person, with the numbers of those whom they know."""

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


def crowd(number: int) -> list[Person]:
    """So many people of different ages."""
    return [Person(n, f"Person {n}", (), Literal(n)) for n in range(1, number + 1)]


def namesakes(number: int) -> list[Person]:
    """So many people who are called Ann, each known by another, and one whom nobody knows."""
    fans = [Person(fan_of(n), f"Fan {n}", (n,)) for n in range(1, number + 1)]
    return [*(Person(n, "Ann") for n in range(1, number + 1)), *fans, Person(8_001, "Bob", (8_002,))]


def fan_of(number: int) -> int:
    return 2_000 + number


class Notation(ABC):
    """How the graphs of an adapter are written."""

    location: ClassVar[str]
    knows: ClassVar[str]
    age: ClassVar[str]

    @abstractmethod
    def node(self, number: int) -> str:
        """The id of a person."""

    @abstractmethod
    def iri(self, short: str) -> URIRef:
        """The IRI of an id."""

    @abstractmethod
    def written(self, people: Sequence[Person]) -> str:
        """The graph as Turtle."""


class _Rdf(Notation):
    """One triple for each fact."""

    namespace: ClassVar[str]
    prefix: ClassVar[str] = ""
    person: ClassVar[str]
    name: ClassVar[URIRef]
    type: ClassVar[URIRef]

    def node(self, number: int) -> str:
        return f"{self.prefix}n{number}"

    def iri(self, short: str) -> URIRef:
        return URIRef(self.namespace + short)

    def written(self, people: Sequence[Person]) -> str:
        return "\n".join(" ".join(term.n3() for term in triple) + " ." for triple in self._triples(people))

    def _triples(self, people: Sequence[Person]) -> Iterator[tuple[URIRef, URIRef, URIRef | Literal]]:
        person = self.iri(self.person)
        yield person, self.name, Literal("Person", lang="en")
        for each in people:
            node = self.iri(self.node(each.number))
            yield node, self.type, person
            yield node, self.name, Literal(each.name, lang="en")
            for number in each.knows:
                yield node, self.iri(self.knows), self.iri(self.node(number))
            if each.age is not None:
                yield node, self.iri(self.age), each.age


class Endpoint(_Rdf):
    location = HERE
    namespace, prefix = "http://ex.example/", "ex:"
    knows, age, person = "ex:knows", "ex:age", "ex:Person"
    name, type = RDFS.label, RDF.type

    def iri(self, short: str) -> URIRef:
        return super().iri(short.removeprefix(self.prefix))


class Freebase(_Rdf):
    location = "freebase+http://127.0.0.1/sparql?default-graph-uri=http://g.example"
    namespace, prefix = "http://rdf.freebase.com/ns/", "m."
    knows, age, person = "people.person.knows", "people.person.age", "people.person"
    name, type = URIRef(f"{namespace}type.object.name"), URIRef(f"{namespace}type.object.type")


class Wikidata(Notation):
    location = "wikidata+http://127.0.0.1/sparql"
    knows, age = "wdt:P26", "wdt:P2048"
    _INSTANCE_OF, _PERSON = "P31", "Q5"

    def node(self, number: int) -> str:
        return f"wd:{_item(number)}"

    def iri(self, short: str) -> URIRef:
        return URIRef(Wikibase().entity(short.removeprefix("wd:")))

    def written(self, people: Sequence[Person]) -> str:
        return "".join(self._lines(Wikibase(), people))

    def _lines(self, wikibase: Wikibase, people: Sequence[Person]) -> Iterator[str]:
        knows, age = (short.removeprefix("wdt:") for short in (self.knows, self.age))
        for local, kind, label in (
            (self._INSTANCE_OF, "item", "instance of"),
            (knows, "item", "knows"),
            (age, "quantity", "age"),
        ):
            yield from wikibase.property(local, kind, [(label, "en")])
        yield from wikibase.item(self._PERSON, [("Person", "en")])
        numbers = count(1)
        for each in people:
            item = _item(each.number)
            yield from wikibase.item(item, [(each.name, "en")])
            said = [(self._INSTANCE_OF, Value("item", self._PERSON))]
            said += [(knows, Value("item", _item(number))) for number in each.knows]
            said += [] if each.age is None else [(age, Value("quantity", str(each.age)))]
            for local, value in said:
                yield from wikibase.statement(item, local, value, number=next(numbers))


def _item(number: int) -> str:
    return f"Q{1_000 + number}"
