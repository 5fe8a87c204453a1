"""The syntaxes of RDF that pyoxigraph parses."""

from __future__ import annotations

import re

from kgnav_mcp.adapters.embedded.loading.formats.beginnings import xml_root
from kgnav_mcp.adapters.embedded.loading.rdf import read_rdf
from kgnav_mcp.adapters.embedded.loading.sources import FileFormat

_KEYWORD = re.compile(rb'\s*[\[{].*"@(?:context|id)"', re.DOTALL)

SYNTAXES = (
    FileFormat("nt", "N-Triples", "rdf", (".nt", ".ntriples"), read=read_rdf),
    FileFormat("nq", "N-Quads", "rdf", (".nq", ".nquads"), read=read_rdf),
    FileFormat("ttl", "Turtle", "rdf", (".ttl", ".turtle"), read=read_rdf),
    FileFormat("trig", "TriG", "rdf", (".trig",), read=read_rdf),
    FileFormat("n3", "Notation3", "rdf", (".n3",), read=read_rdf),
    FileFormat("rdf", "RDF/XML", "rdf", (".rdf", ".owl", ".xml"), xml_root(rb"rdf:RDF"), read=read_rdf),
)
JSON_LD = FileFormat("jsonld", "JSON-LD", "rdf", (".jsonld",), _KEYWORD.match, read=read_rdf)
