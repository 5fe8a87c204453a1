"""Reads ontologies in obographs JSON as the triples of the same ontology in OWL."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

import pyoxigraph as ox

from kgnav_mcp.adapters.embedded.loading.formats.beginnings import json_keys
from kgnav_mcp.adapters.embedded.loading.formats.obo import Annotation, annotate
from kgnav_mcp.adapters.embedded.loading.formats.rdf import stage_quads
from kgnav_mcp.adapters.embedded.loading.names import NameRules
from kgnav_mcp.adapters.embedded.loading.options import LoadProblems
from kgnav_mcp.adapters.embedded.loading.sources import FileFormat, Source, translated
from kgnav_mcp.adapters.embedded.loading.staging_writer import Staging
from kgnav_mcp.adapters.ids.prefixes import obo_id, obo_iri
from kgnav_mcp.adapters.wellknown import OBO, OBO_IN_OWL, OWL, RDF_TYPE, RDFS, RDFS_SUBCLASS
from kgnav_mcp.errors import BadLine, LoadError
from kgnav_mcp.model.ids import is_iri

Json = Mapping[str, Any]

LARGEST = 512 * 1024 * 1024
"""Maximum size of a file in bytes: JSON is parsed as a whole."""

_EDGES = {
    "is_a": RDFS_SUBCLASS,
    "subPropertyOf": RDFS + "subPropertyOf",
    "inverseOf": OWL + "inverseOf",
    "type": RDF_TYPE,
}
_TYPES = {"CLASS": "Class", "INDIVIDUAL": "NamedIndividual"}
_PROPERTIES = {"ANNOTATION": "AnnotationProperty", "OBJECT": "ObjectProperty", "DATA": "DatatypeProperty"}
_KEY = re.compile(rb'"(lbl|pred|sub|propertyType)"\s*:')
_TYPE = ox.NamedNode(RDF_TYPE)


def read_obographs(source: Source, index: int, staging: Staging, rules: NameRules, _: LoadProblems) -> None:
    """Stages every node and edge of the graphs in a file.

    Raises:
        LoadError: the source cannot be read, or is too large.
        BadLine: it is not obographs JSON.
    """
    with translated(source), source.open() as reader:
        data = reader.stream.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise LoadError(
                f"{source.name} is larger than {LARGEST // 2**20} MB, and JSON is read as a whole",
                next_step="Load the same ontology in OWL or OBO, which are read piece by piece.",
            )
        try:
            document = cast("Json", json.loads(data))
            quads = (quad for graph in document["graphs"] for quad in _graph(graph))
            stage_quads(quads, source, index, staging, rules, position=lambda: reader.position)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            line = error.lineno if isinstance(error, json.JSONDecodeError) else None
            raise BadLine(
                source.name, line, f"this is not obographs JSON: {error!r}", next_step="Write the file again."
            ) from error


def _graph(graph: Json) -> Iterator[ox.Quad]:
    if is_iri(graph.get("id", "")):
        yield ox.Quad(_node(graph["id"]), _TYPE, ox.NamedNode(OWL + "Ontology"))
    for node in graph.get("nodes", ()):
        yield from _described(node)
    for edge in graph.get("edges", ()):
        subject, tail = _node(edge["sub"]), _node(edge["obj"])
        yield from _stated(subject, _EDGES.get(edge["pred"]) or edge["pred"], tail, edge.get("meta", {}))
    for group in graph.get("equivalentNodesSets", ()):
        ids = group.get("nodeIds", ())
        for other in ids[1:]:
            yield ox.Quad(_node(ids[0]), ox.NamedNode(OWL + "equivalentClass"), _node(other))
    for axiom in graph.get("logicalDefinitionAxioms", ()):
        subject = _node(axiom["definedClassId"])
        for genus in axiom.get("genusIds", ()):
            yield ox.Quad(subject, ox.NamedNode(RDFS_SUBCLASS), _node(genus))
        for part in axiom.get("restrictions", ()):
            if part:
                yield ox.Quad(subject, _node(part["propertyId"]), _node(part["fillerId"]))


def _described(node: Json) -> Iterator[ox.Quad]:
    """Yields the triples that a node's own metadata state."""
    subject = _node(node["id"])
    kind = _TYPES.get(node.get("type", "")) or _PROPERTIES.get(node.get("propertyType", ""))
    if node.get("type") == "PROPERTY" and kind is None:
        kind = "ObjectProperty"
    if kind is not None:
        yield ox.Quad(subject, _TYPE, ox.NamedNode(OWL + kind))
    short = obo_id(node["id"])
    if short is not None and node.get("type") == "CLASS":
        yield ox.Quad(subject, ox.NamedNode(OBO_IN_OWL + "id"), ox.Literal(short))
    if "lbl" in node:
        yield ox.Quad(subject, ox.NamedNode(RDFS + "label"), ox.Literal(node["lbl"]))
    yield from _meta(subject, node.get("meta", {}))


def _meta(subject: ox.NamedNode, meta: Json) -> Iterator[ox.Quad]:
    """Yields the definition, the synonyms and all else that a node's `meta` states."""
    if "definition" in meta:
        definition = meta["definition"]
        yield from _stated(subject, OBO + "IAO_0000115", ox.Literal(definition["val"]), definition)
    for comment in meta.get("comments", ()):
        yield ox.Quad(subject, ox.NamedNode(RDFS + "comment"), ox.Literal(comment))
    for subset in meta.get("subsets", ()):
        yield ox.Quad(subject, ox.NamedNode(OBO_IN_OWL + "inSubset"), _value(subset))
    for synonym in meta.get("synonyms", ()):
        yield from _stated(subject, OBO_IN_OWL + synonym["pred"], ox.Literal(synonym["val"]), synonym)
    for xref in meta.get("xrefs", ()):
        yield from _stated(subject, OBO_IN_OWL + "hasDbXref", ox.Literal(xref["val"]), xref)
    if meta.get("deprecated"):
        yield ox.Quad(subject, ox.NamedNode(OWL + "deprecated"), ox.Literal(True))
    for value in meta.get("basicPropertyValues", ()):
        yield from _stated(subject, value["pred"], _value(value["val"]), value)


def _stated(subject: ox.NamedNode, relation: str, tail: ox.NamedNode | ox.Literal, about: Json) -> Iterator[ox.Quad]:
    """Yields a triple, and as annotations of it the references and the values that `about` has."""
    predicate = _node(relation)
    references: list[Any] = [
        reference["val"] if isinstance(reference, dict) else reference for reference in about.get("xrefs", ())
    ]
    notes: list[Annotation] = [(OBO_IN_OWL + "hasDbXref", ox.Literal(reference)) for reference in references]
    if about.get("synonymType"):
        notes.append((OBO_IN_OWL + "hasSynonymType", _value(about["synonymType"])))
    notes += [
        (value["pred"], _value(value["val"]))
        for value in cast("Json", about.get("meta", about)).get("basicPropertyValues", ())
    ]
    yield ox.Quad(subject, predicate, tail)
    yield from annotate(subject, predicate, tail, notes)


def _node(text: str) -> ox.NamedNode:
    """The node with an id: an IRI or, in some files, a short form."""
    return ox.NamedNode(text if "://" in text else obo_iri(text) or (text if is_iri(text) else OBO + text))


def _value(text: str) -> ox.NamedNode | ox.Literal:
    """A value: JSON does not tell IRIs from texts."""
    return ox.NamedNode(text) if text.startswith(("http://", "https://")) and " " not in text else ox.Literal(text)


def _begins(start: bytes) -> bool:
    keys = json_keys(start)
    return "graphs" in keys and "@graph" not in keys and _KEY.search(start) is not None


OBOGRAPHS = FileFormat("obographs", "OBO Graphs (JSON)", "rdf", begins=_begins, read=read_obographs)
