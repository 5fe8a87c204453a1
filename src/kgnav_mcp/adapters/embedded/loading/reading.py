"""Reads all sources of a load, kind by kind, because each kind builds on those before."""

from __future__ import annotations

from collections.abc import Sequence

from kgnav_mcp.adapters.embedded.ids import Prefixes
from kgnav_mcp.adapters.embedded.loading import queries
from kgnav_mcp.adapters.embedded.loading.apoc import read_apoc_nodes, read_apoc_relationships
from kgnav_mcp.adapters.embedded.loading.edges import (
    describe_table,
    names_relations,
    read_edges,
    read_triples,
    with_inferred_types,
)
from kgnav_mcp.adapters.embedded.loading.findings import LISTED, Findings
from kgnav_mcp.adapters.embedded.loading.labels import read_labels
from kgnav_mcp.adapters.embedded.loading.names import NameRules
from kgnav_mcp.adapters.embedded.loading.options import DEFAULT_RELATION, LoadOptions
from kgnav_mcp.adapters.embedded.loading.prefixes import known_prefixes
from kgnav_mcp.adapters.embedded.loading.property_graph import PropertyStager, read_nodes, read_relationships
from kgnav_mcp.adapters.embedded.loading.rdf import read_rdf
from kgnav_mcp.adapters.embedded.loading.sources import RDF_FORMATS, TABLES, Format, Source
from kgnav_mcp.adapters.embedded.loading.staging import Staging
from kgnav_mcp.adapters.embedded.loading.wikibase import INSTANCE_OF, Wikibase, recognise_wikibase
from kgnav_mcp.clipping import clipped, comma_list, echoed

ID_RANK = 1_000_000
"""The rank of an id used as a name, after every name from a source."""


class Reading:
    """Reads sources by kind: RDF, tables of edges, nodes, relationships, names; within a kind in the given order.

    Term numbers therefore tell where a term comes from. Terms up to `last_rdf` are from RDF. Terms after
    `last_declared` are ends of relationships that are in no node file; it is None if there is no property graph, or if
    such ends become nodes.
    """

    def __init__(self, sources: list[Source], labels: list[Source], staging: Staging, options: LoadOptions) -> None:
        self.sources = sources
        self.names = [source.name for source in sources]
        self.last_rdf = 0
        self.last_declared: int | None = None
        self.wikibase: Wikibase | None = None
        """The Wikibase whose RDF is among the sources."""
        self.type_relations: list[str] = []
        """Stored ids of the relations whose tails are classes."""
        self.findings = Findings(skip_bad=options.skip_bad)
        self._labels = labels
        self.staging = staging
        self._options = options
        self._rules = NameRules(options)
        read_twice = (source.size for source in sources if source.form is Format.APOC)
        staging.bytes_total = sum(source.size for source in (*sources, *labels)) + sum(read_twice)

    @property
    def kind(self) -> str:
        """The kind of all sources: `rdf`, `table`, `property graph`, or `mixed`."""
        kinds = {_kind(source) for source in self.sources}
        return kinds.pop() if len(kinds) == 1 else "mixed"

    def read(self) -> None:
        """Stages all sources.

        Raises:
            LoadError: a source cannot be read.
            BadLine: a line is wrong, and bad lines are not skipped.
        """
        staging = self.staging
        for index, source in enumerate(self.sources):
            if source.form in RDF_FORMATS:
                read_rdf(source, index, staging, self._rules, self.findings)
        self.last_rdf = staging.terms.last
        self.wikibase = recognise_wikibase(staging)
        self._read_edges()
        self._name_by_ids(self.last_rdf)
        self._read_property_graph()
        if self._labels:
            read_labels(self._labels, staging, self._rules, self.findings)
        self._find_type_relations()

    def _read_edges(self) -> None:
        """Stages the tables whose rows are triples or edges."""
        relation = self._options.relation or DEFAULT_RELATION
        stager = PropertyStager(self.staging, self._rules)
        relation_used = False
        for index, source in enumerate(self.sources):
            if source.form not in TABLES or source.has_nodes:
                continue
            if source.plain:
                read_triples(source, self.staging, self.findings)
            else:
                read_edges(source, index, stager, relation, self.findings)
                relation_used = relation_used or not names_relations(source)
            self.findings.notes += describe_table(source, relation)
        self._note_empty_arrays(stager)
        if self._options.relation is not None and not relation_used:
            self.findings.warnings.append(
                f"--relation {clipped(relation, LISTED)} was not needed: every source names the relations of its edges"
            )

    def _name_by_ids(self, last_named: int) -> None:
        """Uses ids as names for all terms after this one, unless the load has files of names."""
        if not self._labels:
            bounds = (last_named, self.staging.terms.last, ID_RANK)
            self.staging.flush()
            self.staging.connection.execute(queries.STAGE_IDS_AS_NAMES, bounds)

    def _read_property_graph(self) -> None:
        staging = self.staging
        files = [
            (index, source)
            for index, source in enumerate(self.sources)
            if source.form in {Format.PROPERTY_GRAPH, Format.APOC} or source.has_nodes
        ]
        if not files:
            return
        stager = PropertyStager(staging, self._rules)
        for _, source in files:
            if source.form is Format.APOC:
                read_apoc_nodes(source, stager, self.findings)
            elif source.has_nodes:
                read_nodes(source if source.header.admin else with_inferred_types(source), stager, self.findings)
        declared = staging.terms.last
        if stager.texts and not stager.has_names and not self._labels:
            self.findings.warnings.append(
                f"no node has a name (one of {', '.join(self._options.name_properties)}), so that find_node finds "
                f"ids alone; --name-property takes names from another property: {comma_list([*stager.texts], LISTED)}"
            )
        for index, source in files:
            if source.form is Format.APOC:
                read_apoc_relationships(source, index, stager, self.findings)
            elif not source.has_nodes:
                read_relationships(source, index, stager, self.findings)
        self._note_empty_arrays(stager)
        if self._options.nodes_from_edges:
            self._name_by_ids(declared)
        else:
            self.last_declared = declared

    def _note_empty_arrays(self, stager: PropertyStager) -> None:
        counts = [f"{name} ({count:,} times)" for name, count in sorted(stager.empty_arrays.items())]
        if counts:
            self.findings.notes.append(
                f"an empty array has no values, so the property is missing there: {comma_list(counts, LISTED)}"
            )

    def _find_type_relations(self) -> None:
        """Finds the relations whose tails are classes. Warns about configured ones that occur in no triple."""
        relations, options = self.staging.relations, self._options
        prefixes = Prefixes(known_prefixes(self.staging.prefixes), self.staging.unprefixed)
        is_default = options.type_relations == LoadOptions().type_relations
        of_wikibase = (INSTANCE_OF,) if is_default and self.wikibase is not None else ()
        for configured in (*options.type_relations, *of_wikibase):
            found = next((key for key in prefixes.keys(configured) if key in relations), None)
            if found is not None:
                self.type_relations.append(found)
            elif not is_default:
                similar = _most_similar(configured, sorted(map(prefixes.short, relations)))
                nearest = comma_list(similar, LISTED) or "none"
                self.findings.warnings.append(
                    f"no triple has the relation {echoed(configured)} of --type-relation; the nearest there are: "
                    f"{nearest}"
                )


def _most_similar(name: str, names: Sequence[str]) -> list[str]:
    """Returns the three most similar names, best first."""
    from rapidfuzz import fuzz, process  # noqa: PLC0415 - only a wrong name needs it

    return [found for found, _, _ in process.extract(name, names, scorer=fuzz.WRatio, limit=3)]


def _kind(source: Source) -> str:
    if source.form in RDF_FORMATS:
        return "rdf"
    return "table" if source.form in TABLES else "property graph"
