"""Reads all sources of a load, one kind after the other, because each kind refers to those before it.

Files of names come last: names for ids that are not in the graph are omitted and counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from kgnav_mcp.adapters.embedded.loading import queries
from kgnav_mcp.adapters.embedded.loading.columns import is_node_header
from kgnav_mcp.adapters.embedded.loading.formats.rdf import read_rdf_names
from kgnav_mcp.adapters.embedded.loading.headers import Role
from kgnav_mcp.adapters.embedded.loading.id_joining import join_short_ids, note_undescribed
from kgnav_mcp.adapters.embedded.loading.names import NAME, NameRules, stored_ids
from kgnav_mcp.adapters.embedded.loading.options import DEFAULT_RELATION, LISTED, LoadOptions, LoadProblems
from kgnav_mcp.adapters.embedded.loading.sources import Source, lines, stage_entries
from kgnav_mcp.adapters.embedded.loading.staging_writer import PropertyStager, Staging
from kgnav_mcp.adapters.embedded.loading.wikibase import INSTANCE_OF, Wikibase, recognise_wikibase
from kgnav_mcp.adapters.ids.prefixes import Prefixes
from kgnav_mcp.adapters.wellknown import PREFIXES
from kgnav_mcp.clipping import clipped, comma_list
from kgnav_mcp.errors import LoadError


def read_labels(files: Sequence[Source], staging: Staging, rules: NameRules, problems: LoadProblems) -> None:
    """Stages the names in files, and notes how many were used. All other sources must have been read.

    Raises:
        LoadError: a file cannot be read.
        BadLine: a line is wrong, and bad lines are not skipped.
    """
    prefixes = Prefixes(staging.prefixes, PREFIXES, unprefixed=staging.unprefixed)
    read_files: list[tuple[Source, range, int]] = []
    for source in files:
        rows_before = _count_named_keys(staging)
        if source.form.kind == "rdf":
            read_rdf_names(source, staging, rules, problems)
            count = _count_named_keys(staging) - rows_before
        else:
            count = _read_table(source, staging, rules, prefixes, problems)
        read_files.append((source, range(rows_before + 1, _count_named_keys(staging) + 1), count))
    staging.connection.execute(queries.INDEX_NAMED_KEYS)
    staging.connection.execute(queries.MATCH_NAMED_KEYS)
    staging.connection.execute(queries.STAGE_MATCHED_NAMES)
    relations = json.dumps(list(staging.relations))
    for source, rows, count in read_files:
        (used,) = staging.connection.execute(queries.COUNT_MATCHED_NAMES, (relations, rows.start, rows.stop)).fetchone()
        if used:
            problems.notes.append(f"{source.name}: names used: {used:,} of {count:,}")
        elif count:
            first, *_ = staging.connection.execute(queries.NAMED_KEY, (rows.start,)).fetchone()
            (key,) = staging.connection.execute(queries.FIRST_TERM).fetchone() or ("",)
            named, node = (clipped(repr(value), 50) for value in (first, prefixes.short(key)))
            problems.warnings.append(
                f"{source.name}: none of its {count:,} names is used, because its ids, such as {named}, are not ids of "
                f"the graph, whose ids are such as {node}"
            )
        else:
            problems.warnings.append(
                f"{source.name}: it names no entity (--name-relation gives the relation with names)"
            )


def _count_named_keys(staging: Staging) -> int:
    (rows,) = staging.connection.execute(queries.COUNT_NAMED_KEYS).fetchone()
    return int(rows)


def _read_table(source: Source, staging: Staging, rules: NameRules, prefixes: Prefixes, problems: LoadProblems) -> int:
    """Stages every line of a table of names, and returns their number.

    Raises:
        LoadError, BadLine: as `stage_entries`.
    """
    rank = rules.rank(0, None)
    count = 0

    def stage(number: int, line: str) -> None:
        nonlocal count
        reference, _, name = line.partition("\t")
        if not reference or not name.strip() or "\t" in name:
            raise ValueError("two columns (id, name) separated by a tab are expected")
        if number > 1 or not is_node_header([reference, name]):
            count += 1
            staging.named_keys += [(key, NAME, rank, None, name) for key in prefixes.keys(reference)]

    stage_entries(source, staging, problems, lines, stage)
    return count


ID_RANK = 1_000_000
"""The rank of an id used as a name, after every name from a source."""
_NAME = 60
"""Maximum characters of a name in the error about an absent one."""


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
        self.problems = LoadProblems(skip_bad=options.skip_bad)
        self._undirected: dict[str, bool] = {}
        self._labels = labels
        self.staging = staging
        self._options = options
        self._rules = NameRules(options)
        self._relation = options.relation or DEFAULT_RELATION
        self._relation_used = False
        read_twice = (source.size for source in sources if source.read_twice)
        staging.bytes_total = sum(source.size for source in (*sources, *labels)) + sum(read_twice)

    @property
    def kind(self) -> str:
        """The kind of the sources: `rdf`, `table` or `property graph`, or `mixed` if they differ."""
        kinds = {source.form.kind for source in self.sources}
        return kinds.pop() if len(kinds) == 1 else "mixed"

    @property
    def undirected(self) -> str:
        """Which edges are undirected: `all`, `some`, or an empty text for none."""
        if not self._undirected:
            return ""
        return "all" if len(self._undirected) == len(self.sources) and all(self._undirected.values()) else "some"

    def read(self) -> None:
        """Stages all sources.

        Raises:
            LoadError: a source cannot be read, or an option names a relation or property that no source has.
            BadLine: a line is wrong, and bad lines are not skipped.
        """
        staging = self.staging
        for index, source in enumerate(self.sources):
            if source.form.read is not None:
                source.form.read(source, index, staging, self._rules, self.problems)
        self.last_rdf = staging.terms.last
        last_rdf_triple = self._last_triple()
        staging.prefixes.update(self._options.prefixes)
        staging.full_relation = self._full_relation
        self.wikibase = recognise_wikibase(staging)
        self._read_tables()
        self._name_by_ids(self.last_rdf)
        self._read_property_graph()
        self._join_tables(last_rdf_triple)
        if self._labels:
            read_labels(self._labels, staging, self._rules, self.problems)
        self._check_relation()
        self._find_type_relations()
        self._check_names()

    def _last_triple(self) -> int:
        """The number of the last triple that is staged, which all further ones exceed."""
        self.staging.flush()
        (number,) = self.staging.connection.execute(queries.LAST_TRIPLE).fetchone()
        return int(number)

    def _full_relation(self, name: str) -> str:
        """Returns the stored id of a relation of a table, which may be the short form of one of RDF."""
        declared = Prefixes(self.staging.prefixes).declared(name)
        keys = () if "://" in name else self._prefixes.keys(name)[1:]
        return declared or next((key for key in keys if key in self.staging.relations), name)

    def _join_tables(self, last_rdf_triple: int) -> None:
        """Makes one graph of tables and other sources, and notes what no source describes."""
        tables = [source for source in self.sources if source.form.kind == "table" and source.has_edges]
        if self.last_rdf < self.staging.terms.last and (len(self.sources) > 1 or self._options.prefixes):
            join_short_ids(self.staging, self.last_rdf, ID_RANK, self.problems)
        describing = [source for source in self.sources if source.has_nodes or source.form.kind != "table"]
        if tables and describing and len(self.sources) > 1 and not self.staging.terms.overflowed:
            note_undescribed(self.staging, last_rdf_triple, ID_RANK, self.problems)

    def _read_tables(self) -> None:
        """Stages the tables whose rows are triples or edges."""
        tables = [table for table in enumerate(self.sources) if table[1].form.kind == "table" and table[1].has_edges]
        stager = PropertyStager(self.staging, self._rules, self._relation)
        if self._options.undirected:
            stager.undirected |= {source.name: True for _, source in tables}
        self._read_edges(tables, stager)

    def _read_edges(self, sources: list[tuple[int, Source]], stager: PropertyStager) -> None:
        for index, source in sources:
            if source.form.read_edges is not None:
                source.form.read_edges(source, index, stager, self.problems)
        self._note_empty_arrays(stager)
        self._undirected |= stager.undirected
        self._relation_used = self._relation_used or stager.unnamed_edges > 0

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
            if source.form.kind == "property graph" or source.has_nodes
        ]
        if not files:
            return
        stager = PropertyStager(staging, self._rules, self._relation)
        for _, source in files:
            if source.form.read_nodes is not None:
                source.form.read_nodes(source, stager, self.problems)
        declared = staging.terms.last
        if stager.texts and not stager.has_names and not self._labels:
            self.problems.warnings.append(
                f"no node has a name (one of {', '.join(self._options.name_properties)}), so find_node finds ids only; "
                f"--name-property takes names from another property: {comma_list([*stager.texts], LISTED)}"
            )
        self._read_edges([file for file in files if file[1].form.kind == "property graph"], stager)
        if self._options.nodes_from_edges:
            self._name_by_ids(declared)
        else:
            self.last_declared = declared

    def _check_relation(self) -> None:
        columns = {
            column.name for source in self.sources if source.layout.header for column in source.header.of(Role.TYPE)
        }
        if self._options.relation is not None and not self._relation_used and self._relation not in columns:
            self.problems.warnings.append(
                f"--relation {clipped(self._relation, LISTED)} was not needed: every source names the relations of its "
                "edges"
            )

    def _note_empty_arrays(self, stager: PropertyStager) -> None:
        counts = [f"{name} ({count:,} times)" for name, count in sorted(stager.empty_arrays.items())]
        if counts:
            self.problems.notes.append(
                f"an empty array has no values, so the property is missing there: {comma_list(counts, LISTED)}"
            )

    def _find_type_relations(self) -> None:
        """Finds the relations whose tails are classes.

        Raises:
            LoadError: no triple has a relation of --type-relation.
        """
        relations, options, prefixes = self.staging.relations, self._options, self._prefixes
        is_default = options.type_relations == LoadOptions().type_relations
        of_wikibase = (INSTANCE_OF,) if is_default and self.wikibase is not None else ()
        for configured in (*options.type_relations, *of_wikibase):
            relation = next((key for key in prefixes.keys(configured) if key in relations), None)
            if relation is not None:
                self.type_relations.append(relation)
            elif not is_default:
                raise _absent("relation", configured, "--type-relation", map(prefixes.short, relations))

    @property
    def _prefixes(self) -> Prefixes:
        """The prefixes of the sources that were read."""
        return Prefixes(self.staging.prefixes, PREFIXES, unprefixed=self.staging.unprefixed)

    def _check_names(self) -> None:
        """Check that the sources have each relation and property that the options name for names.

        Raises:
            LoadError: one is nowhere. The error has the nearest.
        """
        options, default, seen, prefixes = self._options, LoadOptions(), self._rules.seen, self._prefixes
        if options.name_relations != default.name_relations:
            for name in options.name_relations:
                if not seen.intersection(stored_ids(name)):
                    in_full = [key for key in prefixes.keys(name) if key in self.staging.relations]
                    names = in_full or map(prefixes.short, self.staging.relations)
                    raise _absent("relation", name, "--name-relation", names)
        if options.name_properties != default.name_properties:
            for name in options.name_properties:
                if name.lower() not in seen:
                    self.staging.flush()
                    rows = self.staging.connection.execute(queries.STAGED_PROPERTIES).fetchall()
                    keys = {number: key for key, number in self.staging.relations.items()}
                    raise _absent("property", name, "--name-property", [keys[number] for (number,) in rows])


def _absent(kind: str, name: str, option: str, choices: Iterable[str]) -> LoadError:
    """The error for an option that names a relation or property that no source has, with the nearest three."""
    from rapidfuzz import fuzz, process  # noqa: PLC0415 - only a wrong name needs it

    matches = process.extract(name, sorted(choices), scorer=fuzz.WRatio, limit=3)
    nearest = ", ".join(clipped(choice, _NAME) for choice, _, _ in matches)
    step = f"Use one of the nearest there are: {nearest}." if nearest else f"The sources have none: omit {option}."
    owner = "triple" if kind == "relation" else "node"
    return LoadError(f"no {owner} of the sources has the {kind} {clipped(name, _NAME)!r} of {option}", next_step=step)
