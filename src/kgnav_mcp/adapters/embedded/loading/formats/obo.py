"""Reads ontologies in the OBO flat file format (1.2 and 1.4) as the triples of the same ontology in OWL.

Relationships and intersections are staged directly as edges, as `rdf_rewriting` does with class expressions of OWL.
Qualifiers in braces, and references after definitions and synonyms, become annotations of the triple.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

import pyoxigraph as ox

from kgnav_mcp.adapters.embedded.loading.formats.beginnings import text
from kgnav_mcp.adapters.embedded.loading.formats.rdf import stage_quads
from kgnav_mcp.adapters.embedded.loading.names import NameRules
from kgnav_mcp.adapters.embedded.loading.options import LoadProblems
from kgnav_mcp.adapters.embedded.loading.sources import FileFormat, Source, lines, translated
from kgnav_mcp.adapters.embedded.loading.staging_writer import Staging
from kgnav_mcp.adapters.ids.prefixes import obo_iri
from kgnav_mcp.adapters.wellknown import OBO, OBO_IN_OWL, OWL, PREFIXES, RDF_TYPE, RDFS, RDFS_SUBCLASS, XSD
from kgnav_mcp.model.ids import is_iri

Annotation = tuple[str, ox.NamedNode | ox.Literal]
"""Property and value of an annotation of a triple."""

_TAG = re.compile(r"([A-Za-z_][\w-]*)\s*:\s*(.*)")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"\s*')
_TOKEN = re.compile(r'(?:[^\s\\"{!]|\\.|(?<=\S)!)+')
_MODIFIERS = re.compile(r'([\w:-]+)\s*=\s*"((?:[^"\\]|\\.)*)"')
_REFERENCES = re.compile(r"\[((?:[^\]\\\"]|\\.|\"(?:[^\"\\]|\\.)*\")*)\]\s*")
_REFERENCE = re.compile(r'((?:[^,\\"\s]|\\.|\s(?!"))+)(?:\s+"(?:[^"\\]|\\.)*")?\s*(?:,\s*|$)')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "W": " "}
_COMMENT = re.compile(r"(?:^|\s)!(?:\s|$)")
_FRAME = re.compile(r"\[(\w+)\]")
_SCOPES = ("EXACT", "NARROW", "BROAD", "RELATED")

_CLASSES = {"Term": OWL + "Class", "Typedef": OWL + "ObjectProperty", "Instance": OWL + "NamedIndividual"}
_TEXTS = {
    "name": RDFS + "label",
    "comment": RDFS + "comment",
    "alt_id": OBO_IN_OWL + "hasAlternativeId",
    "namespace": OBO_IN_OWL + "hasOBONamespace",
    "consider": OBO_IN_OWL + "consider",
}
_LINKS = {
    "disjoint_from": OWL + "disjointWith",
    "equivalent_to": OWL + "equivalentClass",
    "instance_of": RDF_TYPE,
    "inverse_of": OWL + "inverseOf",
    "domain": RDFS + "domain",
    "range": RDFS + "range",
    "replaced_by": OBO + "IAO_0100001",
    "subset": OBO_IN_OWL + "inSubset",
}
_CHARACTERISTICS = {
    "is_transitive": OWL + "TransitiveProperty",
    "is_symmetric": OWL + "SymmetricProperty",
    "is_asymmetric": OWL + "AsymmetricProperty",
    "is_reflexive": OWL + "ReflexiveProperty",
    "is_functional": OWL + "FunctionalProperty",
    "is_inverse_functional": OWL + "InverseFunctionalProperty",
    "is_metadata_tag": OWL + "AnnotationProperty",
}
_FRAME_ID = OBO_IN_OWL + "id"
_TYPE = ox.NamedNode(RDF_TYPE)


def read_obo(source: Source, index: int, staging: Staging, rules: NameRules, problems: LoadProblems) -> None:
    """Stages every clause of an OBO file. `index` distinguishes its blank nodes from those of other sources.

    Raises:
        LoadError: the source cannot be read.
        BadLine: a line is wrong, and bad lines are not skipped.
    """
    with translated(source), source.open() as reader:
        ids = _Ids(relation_ids(source, problems))
        document = _Document(ids, lambda line, reason: problems.reject(source.name, line, reason))
        quads = document.quads(lines(source, reader, problems))
        stage_quads(quads, source, index, staging, rules, position=lambda: reader.position)
    staging.prefixes.update({prefix: iri for prefix, iri in ids.spaces.items() if prefix not in staging.prefixes})


def relation_ids(source: Source, problems: LoadProblems) -> dict[str, str]:
    """Returns the OWL ids of relations with a short name, such as `part_of`, from the cross-reference of each.

    Reads the file once, because clauses may use a relation before it is declared.
    """
    ids: dict[str, str] = {}
    name: str | None = None
    is_relation = False
    with source.open() as reader:
        for _, line in lines(source, reader, LoadProblems(skip_bad=True) if problems.skip_bad else problems):
            if line.startswith("["):
                is_relation, name = line.startswith("[Typedef]"), None
            elif is_relation and line.startswith("id:"):
                text = _COMMENT.split(line[3:].strip())[0].strip()
                name = text if ":" not in text else None
            elif name is not None and line.startswith("xref:") and name not in ids:
                reference = obo_iri(_unescaped(_COMMENT.split(line[5:].strip())[0].strip().partition(" ")[0]))
                if reference is not None:
                    ids[name] = reference
    return ids


class _Ids:
    """Converts ids of an OBO file to IRIs."""

    def __init__(self, relations: dict[str, str]) -> None:
        self.spaces: dict[str, str] = {}
        """Namespaces by id space, as the header declares them."""
        self.ontology = "unknown"
        self._relations = relations

    def iri(self, text: str) -> ox.NamedNode:
        """The IRI of an id."""
        space, colon, local = text.partition(":")
        if "://" in text:
            return ox.NamedNode(text)
        if not colon:
            return ox.NamedNode(self._relations.get(text) or f"{OBO}{self.ontology.partition('/')[0]}#{text}")
        namespace = self.spaces.get(space)
        iri = namespace + local if namespace is not None else obo_iri(text)
        if iri is None and space in PREFIXES:
            iri = PREFIXES[space] + local
        return ox.NamedNode(iri or (text if is_iri(text) and space.islower() else f"{OBO}{space}_{local}"))


class _Document:
    """Makes triples of lines. `reject` is called with the number of a bad line and the reason."""

    def __init__(self, ids: _Ids, reject: Callable[[int, str], None]) -> None:
        self._ids = ids
        self._reject = reject
        self._frame = ""
        self._subject: ox.NamedNode | None = None
        self._namespace: str | None = None
        self._has_namespace = True
        self._version = ""
        self._readers: dict[str, Callable[[str], Iterator[ox.Quad]]] = {
            "id": self._id,
            "def": self._definition,
            "synonym": self._synonym,
            "xref": self._xref,
            "is_a": self._is_a,
            "relationship": self._relationship,
            "intersection_of": self._intersection,
            "property_value": self._property_value,
            "is_obsolete": self._obsolete,
            "is_class_level": self._other,
        }

    def quads(self, numbered_lines: Iterator[tuple[int, str]]) -> Iterator[ox.Quad]:
        """Yields the triples of all lines."""
        for number, raw in numbered_lines:
            line = raw.strip()
            if not line or line.startswith("!"):
                continue
            frame = _FRAME.match(line)
            if frame is not None:
                yield from self._end_frame()
                self._frame, self._subject = frame[1], None
                continue
            try:
                yield from list(self._clause(line))
            except ValueError as error:
                self._reject(number, str(error))
        yield from self._end_frame()

    def _clause(self, line: str) -> Iterator[ox.Quad]:
        match = _TAG.fullmatch(line)
        if match is None:
            raise ValueError("a tag, a colon and a value are expected")
        tag, value = match[1], match[2]
        if not self._frame:
            yield from self._header(tag, value)
        elif tag == "id":
            yield from self._id(value)
        elif self._subject is None:
            raise ValueError(f"the frame [{self._frame}] must begin with an id")
        elif (reader := self._readers.get(tag)) is not None:
            yield from reader(value)
        elif tag in _TEXTS:
            self._has_namespace |= tag == "namespace"
            text, modifiers = _text(value)
            yield from self._annotated(_TEXTS[tag], ox.Literal(text), self._modifiers(modifiers))
        elif tag in _LINKS:
            target, rest = _token(value)
            yield from self._annotated(_LINKS[tag], self._ids.iri(target), self._modifiers(rest))
        elif tag in _CHARACTERISTICS:
            if _text(value)[0] == "true":
                yield ox.Quad(self._subject, _TYPE, ox.NamedNode(_CHARACTERISTICS[tag]))
        else:
            yield from self._annotated(OBO_IN_OWL + tag, ox.Literal(_text(value)[0]), ())

    def _header(self, tag: str, value: str) -> Iterator[ox.Quad]:
        text = _text(value)[0]
        if tag == "idspace":
            name, _, rest = text.partition(" ")
            self._ids.spaces[name] = rest.split()[0] if rest.split() else ""
        elif tag == "default-namespace":
            self._namespace = text
        elif tag == "ontology":
            self._ids.ontology = text
            yield ox.Quad(self._ontology, _TYPE, ox.NamedNode(OWL + "Ontology"))
        elif tag in {"subsetdef", "synonymtypedef"}:
            name, rest = _token(value)
            subject, quoted = self._ids.iri(name), _QUOTED.match(rest)
            yield ox.Quad(subject, _TYPE, ox.NamedNode(OWL + "AnnotationProperty"))
            if quoted is not None:
                kind = RDFS + ("comment" if tag == "subsetdef" else "label")
                yield ox.Quad(subject, ox.NamedNode(kind), ox.Literal(_unescaped(quoted[1])))
        elif tag == "data-version":
            self._version = text

    @property
    def _ontology(self) -> ox.NamedNode:
        return ox.NamedNode(f"{OBO}{self._ids.ontology}.owl")

    def _id(self, value: str) -> Iterator[ox.Quad]:
        name, _ = _token(value)
        self._subject, self._has_namespace = self._ids.iri(name), False
        if self._frame in _CLASSES:
            yield ox.Quad(self._subject, _TYPE, ox.NamedNode(_CLASSES[self._frame]))
        yield from self._annotated(_FRAME_ID, ox.Literal(name), ())

    def _end_frame(self) -> Iterator[ox.Quad]:
        """A frame without a namespace has the default one. The header ends with the version of the ontology."""
        if not self._frame and self._version:
            yield ox.Quad(self._ontology, ox.NamedNode(OWL + "versionInfo"), ox.Literal(self._version))
        if self._subject is not None and self._namespace is not None and not self._has_namespace:
            yield from self._annotated(_TEXTS["namespace"], ox.Literal(self._namespace), ())
        self._has_namespace = True

    def _definition(self, value: str) -> Iterator[ox.Quad]:
        text, rest = _quoted(value)
        references, rest = _references(rest)
        notes = chain(_as_references(references), self._modifiers(rest))
        yield from self._annotated(OBO + "IAO_0000115", ox.Literal(text), tuple(notes))

    def _synonym(self, value: str) -> Iterator[ox.Quad]:
        text, rest = _quoted(value)
        words, bracket, behind = rest.partition("[")
        scope, *types = words.split() or ["RELATED"]
        if scope not in _SCOPES:
            scope, types = "RELATED", [scope, *types]
        references, rest = _references(bracket + behind)
        notes: list[Annotation] = [
            (OBO_IN_OWL + "hasSynonymType", self._ids.iri(synonym_type)) for synonym_type in types
        ]
        notes += chain(_as_references(references), self._modifiers(rest))
        yield from self._annotated(f"{OBO_IN_OWL}has{scope.capitalize()}Synonym", ox.Literal(text), notes)

    def _xref(self, value: str) -> Iterator[ox.Quad]:
        target, rest = _token(value)
        quoted = _QUOTED.match(rest)
        notes = [] if quoted is None else [(RDFS + "label", ox.Literal(_unescaped(quoted[1])))]
        modifiers = rest if quoted is None else rest[quoted.end() :]
        notes += self._modifiers(modifiers)
        yield from self._annotated(OBO_IN_OWL + "hasDbXref", ox.Literal(target), notes)

    def _is_a(self, value: str) -> Iterator[ox.Quad]:
        target, rest = _token(value)
        relation = RDFS + "subPropertyOf" if self._frame == "Typedef" else RDFS_SUBCLASS
        yield from self._annotated(relation, self._ids.iri(target), self._modifiers(rest))

    def _relationship(self, value: str) -> Iterator[ox.Quad]:
        relation, rest = _token(value)
        target, rest = _token(rest)
        yield from self._annotated(self._ids.iri(relation).value, self._ids.iri(target), self._modifiers(rest))

    def _intersection(self, value: str) -> Iterator[ox.Quad]:
        first, rest = _token(value)
        second = _TOKEN.match(rest)
        if second is None:
            yield from self._annotated(RDFS_SUBCLASS, self._ids.iri(first), ())
        else:
            yield from self._annotated(self._ids.iri(first).value, self._ids.iri(_unescaped(second[0])), ())

    def _property_value(self, value: str) -> Iterator[ox.Quad]:
        relation, rest = _token(value)
        quoted = _QUOTED.match(rest)
        if quoted is None:
            target, rest = _token(rest)
            tail: ox.NamedNode | ox.Literal = self._ids.iri(target)
        else:
            datatype = _TOKEN.match(rest, quoted.end())
            name = _unescaped(datatype[0]).replace("xsd:", XSD) if datatype is not None else XSD + "string"
            tail = ox.Literal(_unescaped(quoted[1]), datatype=ox.NamedNode(name))
            rest = rest[quoted.end() if datatype is None else datatype.end() :]
        yield from self._annotated(self._ids.iri(relation).value, tail, self._modifiers(rest))

    def _obsolete(self, value: str) -> Iterator[ox.Quad]:
        if _text(value)[0] == "true":
            yield from self._annotated(OWL + "deprecated", ox.Literal(True), ())

    def _other(self, _: str) -> Iterator[ox.Quad]:
        """Says how to read the file, nothing about its subject."""
        yield from ()

    def _modifiers(self, text: str) -> list[Annotation]:
        """The qualifiers in braces at the end of a clause."""
        text = text.strip()
        if not text.startswith("{"):
            return []
        return [
            (self._ids.iri(name).value if ":" in name else OBO_IN_OWL + name, ox.Literal(_unescaped(value)))
            for name, value in _MODIFIERS.findall(text)
        ]

    def _annotated(
        self, relation: str, tail: ox.NamedNode | ox.Literal, notes: Sequence[Annotation]
    ) -> Iterator[ox.Quad]:
        """Yields a triple of the frame, and its annotations."""
        if self._subject is None:
            raise ValueError("the clause belongs to no frame with an id")
        predicate = ox.NamedNode(relation)
        yield ox.Quad(self._subject, predicate, tail)
        yield from annotate(self._subject, predicate, tail, notes)


def annotate(
    subject: ox.NamedNode, predicate: ox.NamedNode, tail: ox.NamedNode | ox.Literal, notes: Sequence[Annotation]
) -> Iterator[ox.Quad]:
    """Yields the triples that annotate a triple with `notes` (an `owl:Axiom`)."""
    if not notes:
        return
    axiom = ox.BlankNode()
    yield ox.Quad(axiom, _TYPE, ox.NamedNode(OWL + "Axiom"))
    for part, value in (("Source", subject), ("Property", predicate), ("Target", tail)):
        yield ox.Quad(axiom, ox.NamedNode(f"{OWL}annotated{part}"), value)
    for name, value in notes:
        yield ox.Quad(axiom, ox.NamedNode(name), value)


def _as_references(references: Sequence[str]) -> list[Annotation]:
    return [(OBO_IN_OWL + "hasDbXref", ox.Literal(reference)) for reference in references]


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), text) if "\\" in text else text


def _text(value: str) -> tuple[str, str]:
    """Splits a value without quotation marks into its text and its qualifiers in braces. A comment is dropped."""
    text = value
    braces = re.search(r'\s*(\{[\w:-]+\s*=\s*".*"\s*\})\s*(?:!.*)?$', value)
    if braces is not None:
        return _unescaped(value[: braces.start()].strip()), braces[1]
    return _unescaped(text.strip()), ""


def _token(text: str) -> tuple[str, str]:
    """Splits an id from the rest of the line.

    Raises:
        ValueError: there is none.
    """
    text = text.strip()
    match = _TOKEN.match(text)
    if match is None:
        raise ValueError("an id is expected")
    return _unescaped(match[0]), text[match.end() :].strip()


def _quoted(text: str) -> tuple[str, str]:
    """Splits a text in quotation marks from the rest of the line.

    Raises:
        ValueError: there is none.
    """
    match = _QUOTED.match(text)
    if match is None:
        raise ValueError("a text in quotation marks is expected")
    return _unescaped(match[1]), text[match.end() :]


def _references(text: str) -> tuple[list[str], str]:
    """Splits a list of references in square brackets from the rest of the line."""
    match = _REFERENCES.match(text)
    if match is None:
        return [], text
    return [_unescaped(reference.strip()) for reference in _REFERENCE.findall(match[1])], text[match.end() :]


OBO_FILE = FileFormat("obo", "OBO", "rdf", (".obo",), text(rb"(?:format-version:|\[Term\]\s*\n)"), read=read_obo)
