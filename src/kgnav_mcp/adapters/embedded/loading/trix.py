"""TriX, which pyoxigraph does not read: parsed by rdflib, in memory, and handed on in a fixed order."""

from __future__ import annotations

import warnings
from xml.sax import SAXParseException

import pyoxigraph as ox

from kgnav_mcp.adapters.embedded.loading.sources import Source, SourceReader
from kgnav_mcp.errors import BadLine


def quads(source: Source, reader: SourceReader) -> list[ox.Quad]:
    """All quads of a TriX source, sorted, for rdflib keeps no order.

    Raises:
        BadLine: it is no well-formed TriX.
    """
    from rdflib import Dataset  # noqa: PLC0415 - slow to import, and TriX is rare
    from rdflib.exceptions import ParserError  # noqa: PLC0415

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
    return list(ox.parse(b"\n".join(statements), ox.RdfFormat.N_QUADS, lenient=True))
