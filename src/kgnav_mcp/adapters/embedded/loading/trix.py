"""TriX, which pyoxigraph does not read: parsed by rdflib, in memory, and handed on in a fixed order."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from xml.sax import SAXParseException

import pyoxigraph as ox
from rdflib import Dataset
from rdflib.exceptions import ParserError

from kgnav_mcp.adapters.embedded.loading.sources import Source, SourceReader
from kgnav_mcp.errors import BadLine


def quads(source: Source, reader: SourceReader) -> Iterator[list[ox.Quad]]:
    """All quads of a TriX source as one batch, sorted, for rdflib keeps no order.

    Raises:
        BadLine: it is no well-formed TriX.
    """
    graphs = Dataset()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # rdflib calls methods that rdflib deprecates
            graphs.parse(data=reader.stream.read(), format="trix")
            statements = sorted(graphs.serialize(format="nquads", encoding="utf-8").splitlines())
    except SAXParseException as error:
        line = error.getLineNumber()
        raise BadLine(source.name, line, error.getMessage(), next_step="Mend the file.") from error
    except ParserError as error:
        raise BadLine(source.name, None, str(error), next_step="Mend the file.") from error
    yield list(ox.parse(b"\n".join(statements), ox.RdfFormat.N_QUADS, lenient=True))
