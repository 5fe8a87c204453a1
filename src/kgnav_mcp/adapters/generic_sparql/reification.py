"""Statements about triples, in three notations. Their properties are the qualifiers of the triples.

RDF 1.1 writes a statement as a node with four triples (`rdf:Statement`), RDF 1.2 as a reifier (`rdf:reifies`) of a
triple term, RDF-star as a quoted triple that is a subject itself. The notations of a graph are detected once, when it
is opened. Two reifiers of one triple make two parallel rows, so that the qualifiers of each stay together.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

from rdflib import RDF, BNode, Literal, URIRef

from kgnav_mcp.adapters.generic_sparql import queries
from kgnav_mcp.adapters.sparql_base.around.blocks import Facts
from kgnav_mcp.adapters.sparql_base.around.queries import FAR_ENDS
from kgnav_mcp.adapters.sparql_base.plans.writing import EdgeVariables
from kgnav_mcp.adapters.sparql_base.query_reader import Reader, Row, boolean_in, iri_in, number_in
from kgnav_mcp.adapters.sparql_base.results import Term
from kgnav_mcp.adapters.sparql_base.terms import Fragment, rows
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.errors import InvalidStore, StoreTimeout, StoreUnavailable, Unsupported
from kgnav_mcp.model import Count, Direction, Stop
from kgnav_mcp.port import FarEndKind

REIFIES = URIRef(str(RDF) + "reifies")
NOTATION = frozenset({RDF.subject, RDF.predicate, RDF.object, REIFIES})
"""Relations that only say which triple a statement is about. They are not shown as qualifiers."""

_PROBE_SHARE = 0.1
"""The fraction of a call's time for each query that detects a notation."""
_COUNTING_SHARE = 0.2
"""The fraction of a call's time for counting parallel and unasserted statements, of which plans need only those of
their own relations."""
_MAX_TRIPLES = 200
_MAX_CHARACTERS = 20_000
"""Maximum number of characters of the values in one query: Virtuoso refuses long texts in a long list (SR342)."""
_MAX_BYTES_IN_ORDER = 4_000
"""UTF-8 bytes of a value up to which Virtuoso joins triples in a given order: it joined 8,000 and refused 12,000."""
_VARIABLES = {Direction.OUTGOING: ("?s", "?o"), Direction.INCOMING: ("?o", "?s")}

Pair = tuple[URIRef, URIRef]
"""An entity and a relation at it."""


QualifiersByTriple = Mapping[tuple[URIRef, URIRef, Term], Sequence[Facts]]
"""The qualifiers of triples (entity, relation, far end): one entry per reifier."""


class Notation(StrEnum):
    """A notation for statements about triples."""

    STATEMENT = "statement"
    REIFIES = "reifies"
    QUOTED = "quoted"


class Reification:
    """Reads statements about triples in the notations that a graph has."""

    def __init__(self, reader: Reader, notations: frozenset[Notation], unsure: frozenset[Notation]) -> None:
        self._reader = reader
        self.notations = notations
        self.unsure = unsure
        """Notations whose detection timed out."""

    def __bool__(self) -> bool:
        return bool(self.notations)

    @property
    def parallel(self) -> bool:
        """Whether one triple may have several reifiers."""
        return bool(self.notations - {Notation.QUOTED})

    def hides(self, iri: Term) -> bool:
        """Whether a type or a relation is only one of statements about triples."""
        return self.parallel and (iri in NOTATION or iri == RDF.Statement)

    def far_end_filter(self, direction: Direction, far_end_kind: FarEndKind | None) -> Fragment:
        """The filter for far ends ?o of the requested kind."""
        incoming = direction is Direction.INCOMING
        parts = [FAR_ENDS[None if incoming else far_end_kind].text]
        if incoming:
            parts.append(self.head("?o").text)
        return Fragment(" ".join(filter(None, parts)))

    def head(self, node: str, *, may_have_iris: bool = True) -> Fragment:
        """The condition that the head of a triple is a visible node, not a statement about a triple.

        `may_have_iris`: whether a statement may have an IRI.
        """
        is_node = self._reader.filled(queries.HEADS, node=Fragment(node)) if Notation.QUOTED in self.notations else ""
        is_no_reifier = self.no_reifier(node, may_have_iris=may_have_iris)
        return Fragment(" ".join(filter(None, (is_node, is_no_reifier.text))))

    def row_filter(self, direction: Direction, far_end_kind: FarEndKind | None, relation: str = "?p") -> Fragment:
        """The filter for the visible rows around an entity."""
        ends = self.far_end_filter(direction, far_end_kind)
        incoming = direction is Direction.INCOMING
        if (Notation.STATEMENT if incoming else Notation.REIFIES) not in self.notations:
            return ends
        shown = self._reader.filled(queries.SHOWN[direction], relation=Fragment(relation))
        return Fragment(f"{ends.text} {shown}".strip())

    def no_reifier(self, node: str, *, may_have_iris: bool = True) -> Fragment:
        """The condition that a node is not a reifier. `may_have_iris`: as of `head`."""
        if not self.parallel:
            return Fragment("")
        about = {Notation.STATEMENT: RDF.subject.n3(), Notation.REIFIES: REIFIES.n3()}
        path = queries.alternatives(tuple(about[one] for one in sorted(self.notations) if one in about))
        if_blank = not may_have_iris and self._reader.nests_exists
        template = queries.NO_BLANK_REIFIER if if_blank else queries.NO_REIFIER
        return self._reader.part(template, node=Fragment(node), about=path)

    def qualifier_pattern(self, x: str, p: URIRef | Fragment, y: str) -> Fragment:
        """A pattern that binds the qualifiers of a triple: ?q, ?v and, except for quoted triples, ?r."""
        return self._pattern(queries.TRIPLE_QUALIFIERS, sorted(self.notations), x, p, y)

    def reifier_pattern(self, x: str, y: str, relation: URIRef | None = None) -> Fragment:
        """A pattern that binds the reifiers ?r of a triple with a relation; by default ?p."""
        notations = sorted(self.notations - {Notation.QUOTED})
        return self._pattern(queries.TRIPLE_REIFIERS, notations, x, relation or Fragment("?p"), y)

    def qualifier_of(
        self, ends: EdgeVariables, qualifier: URIRef, value: Fragment, relation: URIRef | Fragment
    ) -> Sequence[Fragment]:
        """Patterns that bind the values of one qualifier of the triples between two nodes, one for each notation."""
        forms = {notation: form.replace("?r", value.text + "r") for notation, form in queries.HAS_QUALIFIER.items()}
        x, y, terms = ends.source.text, ends.target.text, {"q": qualifier, "v": value}
        return [self._pattern(forms, [notation], x, relation, y, **terms) for notation in sorted(self.notations)]

    async def of_triples(
        self, triples: Sequence[tuple[URIRef, URIRef, Term]], direction: Direction
    ) -> QualifiersByTriple:
        """Read the qualifiers of some triples.

        Raises:
            StoreTimeout: not all of them were read in time.
            Unsupported: the qualifiers of one triple exceed the endpoint's row cap.
        """
        with_iris = [triple for triple in triples if not isinstance(triple[2], BNode)]
        if not self or not with_iris:
            return {}
        x, y = _VARIABLES[direction]
        statement = self.qualifier_pattern(x, Fragment("?p"), y)

        def query(batch: Sequence[tuple[URIRef, URIRef, Term]]) -> str:
            filled = self._reader.filled(queries.STATEMENTS_OF, triples=rows(*batch), statement=statement)  # pyright: ignore[reportArgumentType]
            is_short = all(len(triple[2].encode("utf-8", "replace")) <= _MAX_BYTES_IN_ORDER for triple in batch)
            return self._reader.dialect.in_written_order + filled if is_short else filled

        found = (await self._reader.halving(_batched(with_iris), query)).all_rows()
        return await in_thread(len(found), lambda: _grouped(found))

    async def qualified(self, value: URIRef, most: int) -> dict[tuple[URIRef, URIRef, Term], Facts] | None:
        """The first `most` triples that have this value as a qualifier, with all their qualifiers; None: not known.

        Triples with blank nodes are omitted, since their qualifiers are not shown.
        """
        if not self:
            return None if self.unsure else {}
        qualifying = self._pattern(queries.QUALIFYING, sorted(self.notations), "?s", Fragment("?p"), "?o", value=value)
        shown = self._reader.part(queries.SHOWN[Direction.INCOMING], relation=Fragment("?q"))
        read = await self._reader.select(queries.QUALIFIED, qualifying=qualifying, shown=shown, most=most)
        named = [row for row in read.any_rows() if isinstance(row["s"], URIRef)]
        triples = [(iri_in(row, "s"), iri_in(row, "p"), row["o"]) for row in named]
        qualifiers = await self.of_triples(triples, Direction.OUTGOING)
        found = {
            triple: facts
            for triple, statements in qualifiers.items()
            for facts in statements
            if any(term == value for _, term in facts)
        }
        return None if not found and (read.rows or self.unsure) else found

    async def parallels(self, entities: Sequence[URIRef], direction: Direction) -> dict[Pair, int]:
        """The number of rows in excess of triples, by entity and relation, because a triple has several reifiers.

        Raises:
            StoreTimeout: not all of them were counted in time.
        """
        if not self.parallel or not entities:
            return {}
        stated = self.reifier_pattern(*_VARIABLES[direction])
        read = await self._reader.in_batches(queries.PARALLEL[direction], "s", entities, stated=stated)
        return {
            (iri_in(row, "s"), iri_in(row, "p")): extra_rows
            for row in read.all_rows()
            if (extra_rows := number_in(row, "n") - number_in(row, "t"))
        }

    async def unasserted(self) -> int | None:
        """The number of statements about triples that the graph does not have; None: not known in time."""
        if not self.parallel:
            return 0
        try:
            stated = self.reifier_pattern("?s", "?o")
            read = await self._reader.select(queries.UNASSERTED, share=_COUNTING_SHARE, stated=stated)
        except StoreTimeout:
            return None
        return number_in(read.rows[0], "n") if read.rows and read.stop is Stop.COMPLETE else None

    def _pattern(
        self,
        forms: Mapping[str, str],
        notations: Sequence[Notation],
        x: str,
        p: URIRef | Fragment,
        y: str,
        **terms: URIRef | Fragment,
    ) -> Fragment:
        parts = [
            self._reader.filled(forms[notation], x=Fragment(x), p=p, y=Fragment(y), **terms) for notation in notations
        ]
        return Fragment(parts[0] if len(parts) == 1 else " UNION ".join(f"{{ {part} }}" for part in parts))


def _batched(triples: Iterable[tuple[URIRef, URIRef, Term]]) -> Iterable[Sequence[tuple[URIRef, URIRef, Term]]]:
    """Split triples into batches for one query each."""
    together: list[tuple[URIRef, URIRef, Term]] = []
    size = 0
    for triple in triples:
        if together and (len(together) == _MAX_TRIPLES or size + len(triple[2]) > _MAX_CHARACTERS):
            yield together
            together, size = [], 0
        together.append(triple)
        size += len(triple[2])
    if together:
        yield together


async def detect_notations(reader: Reader) -> Reification:
    """Detect the notations that the graph uses and the endpoint can query. Each probe has a time limit."""

    async def found(query: str) -> bool | None:
        try:
            return bool((await reader.select(query, share=_PROBE_SHARE)).any_rows())
        except StoreTimeout:
            return None
        except (Unsupported, InvalidStore, StoreUnavailable):
            return False  # The endpoint does not know the syntax; each reports that by another error.

    statement, reifies = await gathered(found(queries.STATEMENT_PROBE), found(queries.REIFIES_PROBE))
    if reifies:
        reifies = await found(queries.TRIPLE_TERM_PROBE)
    quoted = False if reifies else await found(queries.QUOTED_PROBE)
    answers = {Notation.STATEMENT: statement, Notation.REIFIES: reifies, Notation.QUOTED: quoted}
    return Reification(
        reader,
        frozenset(notation for notation, answer in answers.items() if answer),
        frozenset(notation for notation, answer in answers.items() if answer is None),
    )


def _grouped(found: Sequence[Row]) -> QualifiersByTriple:
    """Group rows by triple and reifier. A reifier without qualifiers counts as well."""
    by_triple: dict[tuple[URIRef, URIRef, Term], dict[str, dict[tuple[URIRef, Term], None]]] = defaultdict(dict)
    for row in found:
        triple = iri_in(row, "s"), iri_in(row, "p"), row["o"]
        facts = by_triple[triple].setdefault(str(row.get("r", "")), {})
        relation, value = iri_in(row, "q"), row["v"]
        if relation not in NOTATION and (relation, value) != (RDF.type, RDF.Statement):
            facts[relation, value] = None
    return {
        triple: sorted((tuple(sorted(facts, key=fact_order)) for facts in by_reifier.values()), key=_facts_order)
        for triple, by_reifier in by_triple.items()
    }


def fact_order(fact: tuple[URIRef, Term]) -> tuple[str, bool, str, str, str]:
    """Sort key of qualifiers: by relation, then values before entities."""
    relation, value = fact
    if isinstance(value, Literal):
        return str(relation), False, str(value), value.language or "", str(value.datatype or "")
    return str(relation), True, str(value), "", ""


def _facts_order(facts: Facts) -> list[tuple[str, bool, str, str, str]]:
    return [fact_order(fact) for fact in facts]


@dataclass(frozen=True, slots=True)
class ReifierFacts:
    """The triples whose subject is a reifier, counted by relation over the whole graph."""

    uses: Mapping[tuple[URIRef, bool], int]
    """The number of triples whose subject is a reifier, by relation, with values (True) or entities (False)."""
    parallel: Mapping[URIRef, int] | None
    """The number of rows of each relation beyond the first of each triple; None: not known."""
    may_have_iris: bool
    """Whether a reifier may have an IRI."""
    stop: Stop
    """Why there are no counts. Incomplete ones are left out, because they are subtracted from others."""

    def may_include(self, relations: Iterable[URIRef]) -> bool:
        """Whether a reifier may be the subject of a triple with one of these relations."""
        used = {relation for relation, _ in self.uses}
        return self.stop is not Stop.COMPLETE or any(relation in used for relation in relations)

    @property
    def qualifiers(self) -> Mapping[URIRef, Count]:
        """The number of uses of each relation that qualifies triples."""
        found = Counter[URIRef]()
        for (relation, _), number in self.uses.items():
            if relation not in NOTATION and relation != RDF.type:
                found[relation] += number
        return {relation: Count(number) for relation, number in found.items()}


NO_REIFIER_FACTS = ReifierFacts({}, {}, may_have_iris=False, stop=Stop.COMPLETE)


async def uncounted(reader: Reader, reification: Reification, stop: Stop) -> ReifierFacts:
    """The facts of reifiers where they were not all counted: only whether one of them may have an IRI."""
    may_have_iris = True
    with suppress(StoreTimeout):
        found = [
            await reader.select(queries.IRI_REIFIER, share=_PROBE_SHARE, reifiers=Fragment(queries.REIFIERS[notation]))
            for notation in sorted(reification.notations - {Notation.QUOTED})
        ]
        may_have_iris = any(read.rows or read.stop is not Stop.COMPLETE for read in found)
    return ReifierFacts({}, None if reification.parallel else {}, may_have_iris, stop)


async def reifier_facts(reader: Reader, reification: Reification) -> ReifierFacts:
    """Count the triples whose subject is a reifier.

    Raises:
        StoreTimeout: the call's time was over.
    """
    uses = Counter[tuple[URIRef, bool]]()
    stops: list[Stop] = []
    have_iris = False
    for notation in sorted(reification.notations - {Notation.QUOTED}):
        read = await reader.select(queries.REIFIER_FACTS, reifiers=Fragment(queries.REIFIERS[notation]))
        stops.append(read.stop)
        for row in read.rows:
            uses[iri_in(row, "p"), boolean_in(row, "l")] += number_in(row, "n")
            have_iris = have_iris or boolean_in(row, "named")
    if Notation.QUOTED in reification.notations:
        read = await reader.select(queries.QUOTED_FACTS)
        stops.append(read.stop)
        for row in read.rows:
            uses[iri_in(row, "p"), True] += number_in(row, "n")
    stop = Stop.first(stops)
    if stop is not Stop.COMPLETE:
        return await uncounted(reader, reification, stop)
    return ReifierFacts(uses, await _parallel(reader, reification), have_iris, stop)


async def _parallel(reader: Reader, reification: Reification) -> Mapping[URIRef, int] | None:
    """The number of rows of each relation beyond the first of each triple; None if they are not counted in time."""
    if not reification.parallel:
        return {}
    stated = reification.reifier_pattern("?s", "?o")
    try:
        read = await reader.select(queries.ALL_PARALLEL, share=_COUNTING_SHARE, stated=stated)
    except StoreTimeout:
        return None
    return {iri_in(row, "p"): number_in(row, "n") for row in read.rows} if read.stop is Stop.COMPLETE else None
