"""Reading all sources of a load in the order that lets every kind build on the ones before."""

from __future__ import annotations

from kgnav_mcp.adapters.embedded.loading import queries
from kgnav_mcp.adapters.embedded.loading.apoc import read_apoc_nodes, read_apoc_relationships
from kgnav_mcp.adapters.embedded.loading.names import NameRules
from kgnav_mcp.adapters.embedded.loading.property_graph import (
    PropertyStager,
    header_of,
    read_nodes,
    read_relationships,
)
from kgnav_mcp.adapters.embedded.loading.rdf import read_rdf, read_rdf_names
from kgnav_mcp.adapters.embedded.loading.rejects import Rejects
from kgnav_mcp.adapters.embedded.loading.sources import RDF_FORMATS, Format, Source
from kgnav_mcp.adapters.embedded.loading.staging import Staging
from kgnav_mcp.adapters.embedded.loading.tables import read_names, read_triples

ID_RANK = 1_000_000
"""The rank of an id as a name: behind every name that a source gives."""


class Reading:
    """Sources are read by kind: RDF, tables of triples, nodes, relationships, names; within a kind as given.

    So the numbers of terms tell where they come from: up to `last_rdf` from RDF, and those behind `last_declared`
    (None without a property graph) are ends of relationships that no node file has.
    """

    def __init__(
        self, sources: list[Source], labels: list[Source], staging: Staging, rules: NameRules, rejects: Rejects
    ) -> None:
        self.sources = sources
        self.names = [source.name for source in sources]
        self.last_rdf = 0
        self.last_declared: int | None = None
        self._labels = labels
        self.staging = staging
        self._rules = rules
        self.rejects = rejects
        twice = (source.size for source in sources if source.form is Format.APOC)
        staging.bytes_total = sum(source.size for source in (*sources, *labels)) + sum(twice)

    @property
    def kind(self) -> str:
        """What the sources are: `rdf`, `table`, `property graph`, or `mixed`."""
        kinds = {_kind(source) for source in self.sources}
        return kinds.pop() if len(kinds) == 1 else "mixed"

    def read(self) -> None:
        """Stage all of them.

        Raises:
            LoadError: a source cannot be read.
            BadLine: a line is wrong, and bad lines are not skipped.
        """
        staging = self.staging
        for index, source in enumerate(self.sources):
            if source.form in RDF_FORMATS:
                read_rdf(source, index, staging, self._rules, self.rejects)
                staging.bytes_before += source.size
        self.last_rdf = staging.terms.last
        for source in self.sources:
            if source.form is Format.TABLE:
                read_triples(source, staging, self.rejects)
                staging.bytes_before += source.size
        if not self._labels:
            bounds = (self.last_rdf, staging.terms.last, ID_RANK)
            staging.connection.execute(queries.STAGE_IDS_AS_NAMES, bounds)
        self._read_property_graph()
        for source in self._labels:
            if source.form in RDF_FORMATS:
                read_rdf_names(source, staging, self._rules, self.rejects)
            else:
                read_names(source, staging, self._rules, self.rejects)
            staging.bytes_before += source.size
        if self._labels:
            staging.connection.execute(queries.INDEX_NAMED_KEYS)
            staging.connection.execute(queries.STAGE_NAMES_OF_KEYS)

    def _read_property_graph(self) -> None:
        staging = self.staging
        files = [(index, source) for index, source in enumerate(self.sources) if _kind(source) == "property graph"]
        if not files:
            return
        headers = {index: header_of(source) for index, source in files if source.form is Format.PROPERTY_GRAPH}
        stager = PropertyStager(staging, self._rules)
        for index, source in files:
            if source.form is Format.APOC:
                read_apoc_nodes(source, stager, self.rejects)
                staging.bytes_before += source.size
            elif not headers[index].relationships:
                read_nodes(source, stager, self.rejects)
                staging.bytes_before += source.size
        self.last_declared = staging.terms.last
        for index, source in files:
            if source.form is Format.APOC:
                read_apoc_relationships(source, index, stager, self.rejects)
                staging.bytes_before += source.size
            elif headers[index].relationships:
                read_relationships(source, index, stager, self.rejects)
                staging.bytes_before += source.size


def _kind(source: Source) -> str:
    if source.form in RDF_FORMATS:
        return "rdf"
    return "table" if source.form is Format.TABLE else "property graph"
