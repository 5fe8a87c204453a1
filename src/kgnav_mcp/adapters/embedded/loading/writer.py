"""Writes staged rows to the graph file: edges and nodes, in two threads, then statistics and prefixes."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

from kgnav_mcp.adapters.candidates import ID
from kgnav_mcp.adapters.embedded import fileformat
from kgnav_mcp.adapters.embedded.fileformat import DEGREE_FLOOR
from kgnav_mcp.adapters.embedded.loading import queries
from kgnav_mcp.adapters.embedded.loading.names import ALIAS, DESCRIPTION, NAME, NameRules
from kgnav_mcp.adapters.embedded.loading.options import LoadOptions, LoadProblems
from kgnav_mcp.adapters.embedded.loading.staging_writer import NamingRow, Staging
from kgnav_mcp.adapters.ids.prefixes import Prefixes, namespace
from kgnav_mcp.adapters.naming import marked_obsolete, readable_names
from kgnav_mcp.adapters.wellknown import OBO, OWL_DEPRECATED, PREFIXES

MAKE_NODES = "Add the node, or load with --nodes-from-edges to create it"
Row = tuple[Any, ...]
LONG_TEXT = 1_000_000
"""Longer texts (in characters) are sorted by a digest, because a sort keeps about ten rows in memory of any size."""


def unify_terms(connection: sqlite3.Connection) -> None:
    """Gives every key one number, its first, after the term dictionary was cleared and numbered keys again."""
    connection.execute(queries.FIND_REPEATED_TERMS)
    for statement in queries.UNIFY:
        connection.execute(statement)
    connection.execute(queries.FORGET_REPEATED_TERMS)


def reject_undeclared(
    connection: sqlite3.Connection, last_declared: int, names: list[str], problems: LoadProblems
) -> None:
    """Removes relationships with an end that no node file declares, and counts them as bad lines.

    Raises:
        BadLine: there is such a relationship, and bad lines are not skipped.
    """
    undeclared = cast("Iterator[tuple[int, int, str]]", connection.execute(queries.UNDECLARED_ENDS, (last_declared,)))
    for source, line, key in undeclared:
        problems.reject(names[source], line, f"no node has the id {key!r}", advice=MAKE_NODES)
    connection.execute(queries.FORGET_UNDECLARED_RELATIONSHIPS, (last_declared,))
    connection.execute(queries.FORGET_UNDECLARED_TERMS, (last_declared,))


def write_relations(connection: sqlite3.Connection, staging: Staging) -> None:
    """Writes all relations and properties of the sources."""
    connection.executemany(queries.WRITE_RELATION, ((number, key) for key, number in staging.relations.items()))


def mark_deprecated(connection: sqlite3.Connection, staging: Staging) -> None:
    """Marks the terms that an ontology declares obsolete. Their names are shown with that mark."""
    if (number := staging.relations.get(OWL_DEPRECATED)) is not None:
        connection.execute(queries.FIND_DEPRECATED, (number,))


def write_edges(connection: sqlite3.Connection) -> None:
    """Writes the edges and builds their indexes."""
    if connection.execute(queries.HAS_RELATIONSHIPS).fetchone()[0]:
        for edges in queries.batches(_number_rows(connection.execute(queries.SORTED_EDGES), 3)):
            queries.insert(connection, queries.WRITE_EDGE, edges)
    else:
        connection.execute(queries.WRITE_EDGES)
    for statement in fileformat.EDGE_INDEXES.split(";"):
        connection.execute(statement)


def write_attributes(connection: sqlite3.Connection) -> None:
    """Writes the attributes."""
    connection.create_function("digest", 1, _digest, deterministic=True)
    rows = connection.execute(queries.SORTED_ATTRIBUTES, (LONG_TEXT,))
    for attributes in queries.text_batches(_number_rows(rows, 2), 3):
        queries.insert(connection, queries.WRITE_ATTRIBUTE, attributes)


def _digest(text: str) -> bytes:
    """Returns a digest that replaces a long text in a sort. SQLite sorts it, a blob, after all texts."""
    return hashlib.sha256(text.encode()).digest()


def _number_rows(rows: Iterator[Row], width: int) -> Iterator[Row]:
    """Numbers the sorted rows of each key from 0. The key is the first `width` columns.

    The number replaces the column after the key. If that column is 0, the row comes from a set, and its duplicates are
    dropped.
    """
    last: Row = ()
    last_key: Row = ()
    number = 0
    for row in rows:
        key = row[:width]
        if key != last_key:
            last_key, number = key, 0
        elif row[width] == 0 and row == last:
            continue
        else:
            number += 1
        last = row
        yield (*key, number, *row[width + 1 :])


def write_labels(connection: sqlite3.Connection, staging: Staging, type_relations: Sequence[str]) -> None:
    """Writes the labels of a property graph and the classes that are tails of type relations."""
    connection.executemany(queries.WRITE_LABEL, ((number, key) for key, number in staging.labels.items()))
    type_numbers = [staging.relations[key] for key in type_relations]
    if not type_numbers and not staging.labels:
        return
    types = json.dumps(type_numbers)
    connection.execute(queries.FIND_CLASSES, (types,))
    connection.execute(queries.WRITE_CLASSES)
    connection.execute(queries.NUMBER_CLASSES)
    connection.execute(queries.WRITE_NODE_LABELS, (types,))


def write_joins(connection: sqlite3.Connection) -> None:
    """Builds the indexes of nodes, names and attributes, then fills the columns that need them."""
    for statement in fileformat.NODE_INDEXES.split(";"):
        connection.execute(statement)
    connection.execute(queries.NAME_RELATIONS)
    connection.execute(queries.NAME_LABELS)
    connection.execute(queries.COUNT_LABELS)
    connection.execute(queries.MARK_MEDIATORS)


def node_file(path: Path, staging: Path) -> sqlite3.Connection:
    """Opens a new file for the nodes, with the staging file attached, which must be committed and is only read."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("ATTACH ? AS staging", (str(staging),))
    return connection


def fill_node_file(
    connection: sqlite3.Connection, options: LoadOptions, last_rdf: int, opaque: Collection[str]
) -> None:
    """Writes all tables made from staged terms, literals and names. For `last_rdf` and `opaque` see `write_nodes`."""
    connection.execute("BEGIN")
    for statement in (fileformat.TABLES + queries.UNNAMED).split(";"):
        connection.execute(statement)
    write_attributes(connection)
    write_nodes(connection, options, last_rdf, opaque)
    connection.execute(queries.WRITE_NAME_WORDS)
    connection.execute("COMMIT")


def copy_nodes(connection: sqlite3.Connection, path: Path) -> None:
    """Copies the tables of the node file into the graph file. The node file stays attached as `nodes`."""
    connection.execute("ATTACH ? AS nodes", (str(path),))
    connection.execute("BEGIN")
    for statement in queries.COPY_NODES:
        connection.execute(statement)
    connection.execute("COMMIT")


def write_nodes(connection: sqlite3.Connection, options: LoadOptions, last_rdf: int, opaque: Collection[str]) -> None:
    """Writes nodes and names.

    Terms up to `last_rdf` come from RDF. Those without a name in a preferred language or without a language tag also
    get the name in their IRI, so that they can be found by it. Ids in the namespaces `opaque` are not read as names.
    """
    nodes: list[tuple[int, str, str | None, str | None, str | None]] = []
    names: list[tuple[int, int, str | None, str]] = []
    unnamed: list[tuple[int]] = []
    sorted_names = _SortedNames(connection.execute(queries.SORTED_NAMES))
    other_languages_rank = NameRules(options).other_languages

    def flush() -> None:
        written: tuple[tuple[str, list[Any]], ...] = (
            (queries.WRITE_NODE, nodes),
            (queries.WRITE_NAME, names),
            (queries.STAGE_UNNAMED, unnamed),
        )
        for statement, rows in written:
            queries.insert(connection, statement, rows)
            rows.clear()

    text_length = 0
    for node, key, deprecated in connection.execute(queries.TERMS):
        blank = key.startswith("_:")
        label = language = description = None
        has_preferred_name = False
        for kind, rank, tag, text in sorted_names.of(node):
            names.append((node, kind, tag, text))
            text_length += len(text)
            if kind == NAME:
                has_preferred_name |= rank < other_languages_rank
                label, language = (text, tag) if label is None else (label, language)
            elif kind == DESCRIPTION and description is None:
                description = text
        label = _shown_name(node, key, label, names, obsolete=deprecated)
        if label is None and (options.mediators == "unnamed" or (blank and options.mediators == "blank")):
            unnamed.append((node,))
        elif node <= last_rdf and not blank and not has_preferred_name and namespace(key) not in opaque:
            names += [(node, ID, None, text) for text in readable_names(key) if text != key]
        nodes.append((node, key, label, language, description))
        text_length += len(key)
        if text_length >= queries.BATCH_TEXT or len(nodes) == queries.BATCH:
            flush()
            text_length = 0
    flush()


def _shown_name(
    node: int, key: str, label: str | None, names: list[tuple[int, int, str | None, str]], *, obsolete: int
) -> str | None:
    """Returns the name of a node; with a mark if it is obsolete. It is found by the marked name as well."""
    if not obsolete:
        return label
    marked = marked_obsolete(label or readable_names(key)[0])
    if marked != label:
        names.append((node, ALIAS, None, marked))
    return marked


class _SortedNames:
    """Sorted names, read node by node in ascending order, without duplicates."""

    def __init__(self, rows: Iterator[NamingRow]) -> None:
        self._rows = rows
        self._next = next(rows, None)

    def of(self, node: int) -> Iterator[tuple[int, int, str | None, str]]:
        seen: set[tuple[int, str | None, str]] = set()
        while self._next is not None and self._next[0] <= node:
            owner, kind, rank, language, text = self._next
            self._next = next(self._rows, None)
            if owner == node and (kind, language, text) not in seen:
                seen.add((kind, language, text))
                yield kind, rank, language, text


Degree = tuple[int, int, int, int]
"""Node, direction (0 outgoing, 1 incoming), relation, and number of rows."""

_MAX_LABEL_PAIRS = 100
"""Pairs of labels stored for each relation, at most. An ontology with many classes would give very many."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The number of rows of each relation, and the degrees of hubs in one direction.

    For attributes also: the number of items of arrays by relation, and the relations with several values at one node.
    """

    relations: Counter[int]
    degrees: list[Degree]
    items: Counter[int] = field(default_factory=Counter[int])
    multivalued: frozenset[int] = frozenset()


def committed(path: Path) -> sqlite3.Connection:
    """Returns a connection to the committed part file for another thread. The tables that it reads must not change."""
    connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True, check_same_thread=False)
    connection.execute(queries.ANY_EDGE).fetchone()  # reads the schema before other threads write further tables
    return connection


def count_edges(connection: sqlite3.Connection) -> Counted:
    """Counts edges by relation, and the incoming degrees of hubs."""
    counts: Counter[int] = Counter()
    for relation, rows in connection.execute(queries.EDGE_RELATIONS):
        counts[relation] += rows
    return Counted(counts, connection.execute(queries.DEGREES_INCOMING, (DEGREE_FLOOR,)).fetchall())


def count_attributes(connection: sqlite3.Connection) -> Counted:
    """Counts attributes by relation, and the outgoing degrees of hubs, which include edges."""
    counts: Counter[int] = Counter()
    items: Counter[int] = Counter()
    multivalued: set[int] = set()
    for relation, rows, array_items in connection.execute(queries.ATTRIBUTE_RELATIONS):
        counts[relation] += rows
        if rows > 1:
            multivalued.add(relation)
        if array_items:
            items[relation] += array_items
    degrees = connection.execute(queries.DEGREES_OUTGOING, (DEGREE_FLOOR,)).fetchall()
    return Counted(counts, degrees, items, frozenset(multivalued))


def write_statistics(connection: sqlite3.Connection, of_edges: Counted, of_attributes: Counted) -> bool:
    """Fills the tables of counts. Returns whether schema statistics come from a sample."""
    edges, attributes = of_edges.relations, of_attributes.relations
    connection.executemany(queries.WRITE_EDGE_COUNT, edges.items())
    items, multivalued = of_attributes.items, of_attributes.multivalued
    connection.executemany(
        queries.WRITE_ATTRIBUTE_COUNT,
        ((relation, rows, items[relation], relation in multivalued) for relation, rows in attributes.items()),
    )
    for counted in (of_attributes, of_edges):
        connection.executemany(queries.WRITE_DEGREE, counted.degrees)
    if connection.execute(queries.HAS_MEDIATORS).fetchone()[0]:
        connection.execute(queries.COUNT_OUTGOING_OF_MEDIATORS)
        connection.execute(queries.COUNT_INCOMING_OF_MEDIATORS)
        connection.execute(queries.WRITE_THROUGH_OUTGOING)
        connection.execute(queries.WRITE_THROUGH_INCOMING)
    step = fileformat.sample_step(edges.total() + attributes.total())
    if connection.execute(queries.HAS_LABELS).fetchone()[0]:
        connection.execute(queries.FILL_EDGE_SAMPLE, (fileformat.RARE, step))
        connection.execute(queries.WRITE_EDGE_HEADS)
        connection.execute(queries.WRITE_EDGE_TAILS)
        connection.execute(queries.WRITE_EDGE_JOINS, (_MAX_LABEL_PAIRS,))
    connection.execute(queries.WRITE_QUALIFIERS, connection.execute(queries.HAS_QUALIFIED_ATTRIBUTES).fetchone())
    connection.execute(queries.FORGET_UNUSED_RELATIONS)
    connection.execute(queries.WRITE_LABEL_PROPERTIES, (fileformat.RARE, step))
    return step > 1


SAMPLE = 20_000
"""Number of nodes, at even distances, by which namespaces are counted: reading all ids takes seconds."""

MIN_USES = 20
MIN_SHARE = 1000
"""A namespace gets a generated prefix if it has MIN_USES uses, and at least one in MIN_SHARE of all uses."""

LENGTHS = range(16, 500)
"""Lengths of namespaces that get a generated prefix. For shorter ones, a prefix and its explanation save nothing."""

MAX_COINED = 50

_NAMESPACE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/\s]+[/#]\S*")


def known_prefixes(declared: Mapping[str, str]) -> dict[str, str]:
    """Returns declared prefixes, then well-known ones."""
    return {**declared, **{prefix: iri for prefix, iri in PREFIXES.items() if prefix not in declared}}


def choose(connection: sqlite3.Connection, declared: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Returns all prefixes of a graph, and the names of the generated ones.

    Nodes and relations must be written already.
    """
    chosen = known_prefixes(declared)
    uses = _count_uses(connection, Prefixes(chosen))
    least_uses = max(MIN_USES, uses.total() // MIN_SHARE)
    common = sorted((-uses[iri], iri) for iri in uses if uses[iri] >= least_uses and _worthwhile(iri))
    new_prefixes = (name for name in map("ns{}".format, count(1)) if name not in chosen)
    coined = dict(zip(new_prefixes, (iri for _, iri in common[:MAX_COINED]), strict=False))
    return chosen | coined, list(coined)


def has_two_readings(connection: sqlite3.Connection, chosen: Mapping[str, str]) -> bool:
    """Whether some id is also the short form of another, as `PMID:1` is that of `obo/PMID_1`."""
    used = {
        prefix: iri for prefix, iri in chosen.items() if connection.execute(queries.HAS_NAMESPACE, (iri,)).fetchone()[0]
    }
    if not used:
        return False
    connection.execute(queries.SHORT_FORMS)
    connection.executemany(queries.ADD_SHORT_FORMS, used.items())
    (exists,) = connection.execute(queries.HAS_TWO_READINGS, {"obo": OBO}).fetchone()
    return bool(exists)


def _worthwhile(iri: str) -> bool:
    return len(iri) in LENGTHS and _NAMESPACE.fullmatch(iri) is not None


def _count_uses(connection: sqlite3.Connection, prefixes: Prefixes) -> Counter[str]:
    """Estimates the uses of each namespace: one for each node, and one per triple for relations and hubs.

    Ids with a known prefix count under the empty text, so that they are part of the total.
    """
    uses = Counter[str]()
    (last,) = connection.execute(queries.LAST_NODE).fetchone()
    step = -(-last // SAMPLE) or 1
    sampled = json.dumps(list(range(1, last + 1, step)))
    for (key,) in connection.execute(queries.KEYS_OF_NODES, (sampled,)):
        uses[_unprefixed_namespace(key, prefixes)] += step
    for statement in (queries.USES_OF_RELATIONS, queries.USES_OF_HUBS):
        for key, triples in connection.execute(statement):
            uses[_unprefixed_namespace(key, prefixes)] += triples
    return uses


def _unprefixed_namespace(key: str, prefixes: Prefixes) -> str:
    """Returns the namespace of an id; empty if it has a known prefix."""
    return namespace(key) if prefixes.short(key) == key else ""
