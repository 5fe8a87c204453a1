"""RDF sources: parsed by pyoxigraph, named graphs merged, quoted triples kept for their qualifiers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

import pyoxigraph as ox

from kgnav_mcp.adapters.embedded.loading import trix
from kgnav_mcp.adapters.embedded.loading.names import NameRules
from kgnav_mcp.adapters.embedded.loading.rejects import Rejects
from kgnav_mcp.adapters.embedded.loading.sources import Format, Source, SourceReader, blocks, translated
from kgnav_mcp.adapters.embedded.loading.staging import BATCH, Staging
from kgnav_mcp.adapters.embedded.loading.wellknown import RDF, RDF_REIFIES, XSD
from kgnav_mcp.errors import BadLine, LoadError

OX_FORMATS = {
    Format.N_TRIPLES: ox.RdfFormat.N_TRIPLES,
    Format.N_QUADS: ox.RdfFormat.N_QUADS,
    Format.TURTLE: ox.RdfFormat.TURTLE,
    Format.TRIG: ox.RdfFormat.TRIG,
    Format.N3: ox.RdfFormat.N3,
    Format.RDF_XML: ox.RdfFormat.RDF_XML,
    Format.JSON_LD: ox.RdfFormat.JSON_LD,
}
LINE_FORMATS = (Format.N_TRIPLES, Format.N_QUADS)

PLACE = re.compile(r"^Parser error (at|between) line \d+[^:]*: ")
"""How pyoxigraph begins a message; the line number is told apart from it."""


def read_rdf(source: Source, index: int, staging: Staging, rules: NameRules, rejects: Rejects) -> None:
    """Stage every triple of a source. `index` keeps its blank nodes apart from those of other sources.

    Raises:
        LoadError: the source cannot be read.
        BadLine: it has an error, and bad lines are not skipped or cannot be in this format.
    """
    stager = _Stager(index, staging, rules)
    with translated(source), source.open() as reader:
        for batch in quads(source, reader, staging.prefixes, rejects):
            stager.stage(batch)
            if len(staging.triples) + len(staging.literals) >= BATCH:
                staging.checkpoint(source.name, reader.position)
        staging.checkpoint(source.name, reader.position)


def read_rdf_names(source: Source, staging: Staging, rules: NameRules, rejects: Rejects) -> None:
    """Stage the names, aliases and descriptions in a file of names; its other triples are left out.

    Raises:
        LoadError: the source cannot be read.
        BadLine: it has an error, and bad lines are not skipped or cannot be in this format.
    """
    with translated(source), source.open() as reader:
        for batch in quads(source, reader, staging.prefixes, rejects):
            for quad in batch:
                kind = rules.relations.get(quad.predicate.value)
                if kind is not None and isinstance(quad.object, ox.Literal) and isinstance(quad.subject, ox.NamedNode):
                    name = quad.object
                    rank = rules.rank(kind[1], name.language)
                    staging.named_keys.append((quad.subject.value, kind[0], rank, name.language, name.value))
            staging.checkpoint(source.name, reader.position)


def quads(source: Source, reader: SourceReader, prefixes: dict[str, str], rejects: Rejects) -> Iterator[list[ox.Quad]]:
    """The quads of a source in batches. Prefixes that it declares are added to `prefixes`."""
    if source.form is Format.TRIX:
        yield from trix.quads(source, reader)
    elif source.form in LINE_FORMATS and rejects.skip_bad:
        yield from _good_lines(source, reader, rejects)
    else:
        parser = ox.parse(reader.stream, OX_FORMATS[source.form], lenient=True)
        try:
            statements: Iterator[ox.Quad] = iter(parser)
            while batch := list(islice(statements, 10_000)):
                yield batch
        except SyntaxError as error:
            raise _bad_line(source, error, skip_bad=rejects.skip_bad) from error
        for prefix, namespace in parser.prefixes.items():
            prefixes.setdefault(prefix, namespace)


def _good_lines(source: Source, reader: SourceReader, rejects: Rejects) -> Iterator[list[ox.Quad]]:
    """Whole blocks where they have no error; line by line, to leave out the bad ones only, where they have."""
    form = OX_FORMATS[source.form]
    first = 1
    for block in blocks(reader):
        try:
            yield list(ox.parse(block, form, lenient=True))
        except SyntaxError:
            good: list[ox.Quad] = []
            for number, line in enumerate(block.split(b"\n"), first):
                try:
                    good += ox.parse(line, form, lenient=True)
                except SyntaxError as error:
                    rejects.add(source.name, number, _reason(error))
            yield good
        first += block.count(b"\n")


def _reason(error: SyntaxError) -> str:
    return PLACE.sub("", error.msg)


def _bad_line(source: Source, error: SyntaxError, *, skip_bad: bool) -> LoadError:
    if "LoadDocumentCallback" in error.msg:
        return LoadError(
            f"{source.name}: it names a JSON-LD context on the Web, and loading reads nothing but the sources",
            next_step="Write the context into the file, or convert it to N-Triples first.",
        )
    if source.form in LINE_FORMATS:
        step = "Mend the line, or load with --skip-bad to leave it out."
    elif skip_bad:
        step = (
            f"--skip-bad cannot go on behind an error in {source.form}, where a statement spans lines: "
            "mend it, or convert the file to N-Triples."
        )
    else:
        step = "Mend the line. Only N-Triples and N-Quads can skip bad lines, with --skip-bad."
    return BadLine(source.name, error.lineno, _reason(error), next_step=step)


class _Stager:
    """Stages quads: the loop that decides how long a load takes, so it works on local names."""

    def __init__(self, index: int, staging: Staging, rules: NameRules) -> None:
        self._blank = f"_:{index}:"
        self._staging = staging
        self._rules = rules
        self._kinds = {
            staging.relations[key]: kind for key, kind in rules.relations.items() if key in staging.relations
        }
        self._datatypes: dict[str, str | None] = {XSD + "string": None, RDF + "langString": None}

    def stage(self, batch: list[ox.Quad]) -> None:
        staging = self._staging
        known, add = staging.terms.ids.get, staging.terms.add
        relations = staging.relations
        add_triple, add_literal = staging.triples.append, staging.literals.append
        kinds, datatypes = self._kinds, self._datatypes
        named_node, literal = ox.NamedNode, ox.Literal
        for quad in batch:
            subject, tail = quad.subject, quad.object
            head_key = subject.value if type(subject) is named_node else self._key(subject)
            head = known(head_key) or add(head_key)
            relation_key = quad.predicate.value
            relation = relations.get(relation_key) or self._relation(relation_key)
            if type(tail) is named_node:
                tail_key = tail.value
                add_triple((head, relation, known(tail_key) or add(tail_key)))
            elif type(tail) is literal:
                text, language, datatype = tail.value, tail.language, tail.datatype.value
                short = datatypes[datatype] if datatype in datatypes else self._datatype(datatype)
                add_literal((head, relation, text, short, language))
                kind = kinds.get(relation)
                if kind is not None:
                    rank = self._rules.rank(kind[1], language)
                    staging.namings.append((head, kind[0], rank, language, text))
            elif type(tail) is ox.BlankNode:
                tail_key = self._blank + tail.value
                add_triple((head, relation, known(tail_key) or add(tail_key)))
            else:
                self._quoted(head, relation_key, relation, tail)

    def _key(self, subject: object) -> str:
        if isinstance(subject, ox.BlankNode):
            return self._blank + subject.value
        return str(subject)

    def _relation(self, key: str) -> int:
        relation = self._staging.relation(key)
        if key in self._rules.relations:
            self._kinds[relation] = self._rules.relations[key]
        return relation

    def _datatype(self, iri: str) -> str | None:
        """The datatype as it is stored: XML Schema's, which nearly every literal has, by prefix."""
        short = f"xsd:{iri.removeprefix(XSD)}" if iri.startswith(XSD) else iri
        self._datatypes[iri] = short
        return short

    def _quoted(self, head: int, relation_key: str, relation: int, tail: object) -> None:
        """A triple term: what a reifier stands for; as the tail of any other relation it is kept as its text."""
        staging = self._staging
        if relation_key != RDF_REIFIES or not isinstance(tail, ox.Triple) or isinstance(tail.object, ox.Triple):
            staging.literals.append((head, relation, str(tail), None, None))
            return
        quoted_head = staging.terms.id(self._node_key(tail.subject))
        quoted_relation = staging.relations.get(tail.predicate.value) or self._relation(tail.predicate.value)
        if isinstance(tail.object, ox.Literal):
            value = tail.object
            datatype = value.datatype.value
            short = self._datatypes[datatype] if datatype in self._datatypes else self._datatype(datatype)
            staging.reifiers.append((head, quoted_head, quoted_relation, None, value.value, short, value.language))
        else:
            quoted_tail = staging.terms.id(self._node_key(tail.object))
            staging.reifiers.append((head, quoted_head, quoted_relation, quoted_tail, None, None, None))

    def _node_key(self, node: object) -> str:
        return node.value if isinstance(node, ox.NamedNode) else self._key(node)
