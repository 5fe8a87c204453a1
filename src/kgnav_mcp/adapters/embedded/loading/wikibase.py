"""Reads the RDF of a Wikibase as the Wikidata adapter shows it: each statement as one triple with its qualifiers.

The form is that of item exports and dumps (https://www.mediawiki.org/wiki/Wikibase/Indexing/RDF_Dump_Format). It is
recognised by predicates of the Wikibase ontology; the concept base, which differs between Wikibases, is read from the
predicates of properties. A statement (`p:`, `ps:`) becomes a triple with the relation `wdt:`. Its qualifiers, its rank
unless that is normal, and its number of references become qualifiers. Statements that are not of the best rank are
left out, unless all are wanted. The nodes of statements, full values, references and sitelinks are not entities.

Values are texts with their precision or unit. A `wdt:` triple is read only for entities without statements, as in a
truthy dump.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any

from kgnav_mcp.adapters.embedded.loading import queries_wikibase as queries
from kgnav_mcp.adapters.embedded.loading.options import LoadProblems, Statements
from kgnav_mcp.adapters.embedded.loading.queries import BATCH, BATCH_TEXT, insert
from kgnav_mcp.adapters.embedded.loading.staging_writer import Staging
from kgnav_mcp.adapters.wellknown import (
    ALIAS_RELATIONS,
    DESCRIPTION_RELATIONS,
    NAME_RELATIONS,
    PREFIXES,
    RDF_TYPE,
    SCHEMA,
    XSD,
)
from kgnav_mcp.adapters.wikibase_values import (
    DATATYPES,
    EXTERNAL_ID,
    NO_VALUE,
    UNKNOWN_VALUE,
    FullValue,
    describes,
    readable_value,
    shown_datatype,
    unit_of,
    value_kind,
)

ONTOLOGY = PREFIXES["wikibase"]
RANK = ONTOLOGY + "rank"
REFERENCES = PREFIXES["prov"] + "wasDerivedFrom"
INSTANCE_OF = "P31"

_BEST_RANK = ONTOLOGY + "BestRank"
_PREDICATE = re.compile(r"(?P<base>.+)/prop/(?P<folder>(?:[a-z-]+/)*)(?P<local>P[1-9]\d{0,14})")
_ENTITY = re.compile(r"[QPL][1-9]\d{0,14}(?:-[FS][1-9]\d{0,5})?")
_UNKNOWN = "/.well-known/genid/"
_ROLES = {
    "": "claim",
    "direct/": "direct",
    "statement/": "value",
    "qualifier/": "qualifier",
    "statement/value/": "full",
    "qualifier/value/": "full",
}
"""Roles by the path of a predicate. All others (references, normalised values) are `other`, which is left out."""
_PARTS = ("timeValue", "timePrecision", "timeCalendarModel", "quantityAmount", "quantityUnit")
_ABOUT_PAGE = tuple(namespace + name for namespace in SCHEMA for name in ("version", "dateModified"))
"""What some exports say of an entity that is about its page."""
_NO_PARTS: FullValue = {}
_PREFERRED = -1
"""The rank of names that this module gives, before those of any source."""

Value = list[str | None] | dict[str, str]
"""A value as qualifiers store it: [text, datatype, language], or {"id": the key of an entity}."""


@dataclass(frozen=True, slots=True)
class Wikibase:
    """A Wikibase by its concept base, such as `http://www.wikidata.org`."""

    base: str

    @property
    def entities(self) -> str:
        """The namespace of entities."""
        return f"{self.base}/entity/"

    @property
    def relations(self) -> str:
        """The namespace of relations, the predicates from an entity to values (`wdt:`)."""
        return f"{self.base}/prop/direct/"

    @property
    def unprefixed(self) -> tuple[str, ...]:
        """The namespaces whose ids may be written without a prefix: `Q42`, `P31`."""
        return self.entities, self.relations

    def is_entity(self, key: str) -> bool:
        """Whether a key is the IRI of an entity."""
        return key.startswith(self.entities) and _ENTITY.fullmatch(key, len(self.entities)) is not None


def recognise_wikibase(staging: Staging) -> Wikibase | None:
    """Returns the Wikibase whose RDF has been staged; None if there is none.

    Adds the relations of all its properties. Its prefixes are those that the Wikidata adapter prints, whatever the
    sources declare: `p:`, `ps:` and `pq:` mean the property, too.
    """
    if not any(key.startswith(ONTOLOGY) for key in staging.relations):
        return None
    matches = [match for key in staging.relations if (match := _PREDICATE.fullmatch(key))]
    if not matches:
        return None
    uses = Counter(match["base"] for match in matches)
    wikibase = Wikibase(min(uses, key=lambda base: (-uses[base], base)))
    for match in matches:
        if match["base"] == wikibase.base:
            staging.relation(wikibase.relations + match["local"])
    wikibase_prefixes = {"wd": wikibase.entities} | dict.fromkeys(("wdt", "p", "ps", "pq"), wikibase.relations)
    wikibase_prefixes |= {"wikibase": ONTOLOGY, "prov": PREFIXES["prov"]}
    staging.prefixes = wikibase_prefixes | {
        prefix: iri for prefix, iri in staging.prefixes.items() if prefix not in wikibase_prefixes
    }
    staging.unprefixed = wikibase.unprefixed
    return wikibase


def fold_statements(staging: Staging, wikibase: Wikibase, statements: Statements, problems: LoadProblems) -> list[str]:
    """Replaces the staged rows of a Wikibase by triples with qualifiers. All sources must have been read.

    Returns the keys of relations to identifiers of other databases, which are shown only if a request names them.
    """
    connection = staging.connection
    staging.flush()
    for statement in queries.TABLES:
        connection.execute(statement)
    connection.executemany(queries.ADD_ROLE, _roles(staging, wikibase))
    parameters = _ranges(wikibase) | _numbers(staging)
    terms = _read_named_terms(connection, wikibase, staging, parameters)
    datatypes = _datatypes(connection, parameters)
    parameters["dataset"] = json.dumps([terms[key] for key in _datasets() if key in terms])
    for statement in (*queries.FIND_INTERNAL, *queries.FIND_PARTS):
        connection.execute(statement, parameters)
    units = {key: text for key, _, _, text in reversed(connection.execute(queries.UNIT_NAMES, parameters).fetchall())}
    folder = _Folder(staging, wikibase, datatypes, units)
    folder.shown = None if statements == "all" else "best" if _BEST_RANK in terms else "not deprecated"
    folder.fold(connection.execute(queries.STATEMENT_ROWS, parameters))
    folder.take_direct(connection.execute(queries.DIRECT_ROWS))
    folder.flush()
    for statement in (*queries.KEEP_OTHERS, *queries.FORGET_UNUSED_TERMS, *queries.NAME_PROPERTIES):
        connection.execute(statement, parameters)
    for key, name in ((RANK, "rank"), (REFERENCES, "references")):
        staging.relation(key)
        connection.execute(queries.STAGE_NAME, (key, _PREFERRED, name))
    _report(staging, wikibase, folder, problems)
    return sorted(key for key, kind in datatypes.items() if kind == EXTERNAL_ID and key in staging.relations)


def used_relations(staging: Staging, keys: Sequence[str]) -> list[str]:
    """Returns the relations among `keys` that lead to a node in the staged rows."""
    find = staging.connection.execute
    return [key for key in keys if find(queries.IS_USED, {"relation": staging.relations[key]}).fetchone()[0]]


def _roles(staging: Staging, wikibase: Wikibase) -> Iterator[tuple[int, str, int | None, str | None]]:
    for key, number in list(staging.relations.items()):
        match = _PREDICATE.fullmatch(key)
        if match and match["base"] == wikibase.base:
            yield (
                number,
                _ROLES.get(match["folder"], "other"),
                staging.relation(wikibase.relations + match["local"]),
                None,
            )
        elif key.startswith(ONTOLOGY):
            name = key.removeprefix(ONTOLOGY)
            role = "rank" if key == RANK else "part" if name in _PARTS else "other"
            yield number, role, None, name
        elif key == REFERENCES:
            yield number, "reference", None, None


def _ranges(wikibase: Wikibase) -> dict[str, object]:
    """Returns the first key of each namespace, and the first key after it."""
    base = wikibase.base
    namespaces = {
        "entities": wikibase.entities,
        "properties": wikibase.entities + "P",
        "predicates": f"{base}/prop/",
        "no_values": f"{base}/prop/novalue/",
        "statements": f"{base}/entity/statement/",
        "values": f"{base}/value/",
        "references": f"{base}/reference/",
        "ontology": ONTOLOGY,
    }
    ends = {f"{name}_end": iri[:-1] + chr(ord(iri[-1]) + 1) for name, iri in namespaces.items()}
    return {**namespaces, **ends}


def _numbers(staging: Staging) -> dict[str, object]:
    """Returns the numbers of the relations that queries need; those of a set as a JSON list."""

    def listed(keys: Iterable[str]) -> str:
        return json.dumps([staging.relations[key] for key in keys if key in staging.relations])

    return {
        "type": staging.relations.get(RDF_TYPE),
        "property_type": staging.relations.get(ONTOLOGY + "propertyType"),
        "unit": staging.relations.get(ONTOLOGY + "quantityUnit"),
        "complement": staging.relations.get(PREFIXES["owl"] + "complementOf"),
        "about": listed(namespace + "about" for namespace in SCHEMA),
        "in_wiki": listed(namespace + "isPartOf" for namespace in SCHEMA),
        "terms": listed((*NAME_RELATIONS, *ALIAS_RELATIONS, *DESCRIPTION_RELATIONS, *_ABOUT_PAGE)),
        "last_rdf": staging.terms.last,
    }


def _datasets() -> list[str]:
    return [namespace + "Dataset" for namespace in SCHEMA]


def _read_named_terms(
    connection: sqlite3.Connection, wikibase: Wikibase, staging: Staging, parameters: Mapping[str, object]
) -> dict[str, int]:
    """Writes the properties and the classes of statements to their tables. Returns numbers of other terms by key."""
    keys = json.dumps([_BEST_RANK, *_datasets()])
    terms: dict[str, int] = {}
    for node, key in connection.execute(queries.NAMED_TERMS, {**parameters, "keys": keys}).fetchall():
        local = key.rpartition("/")[2]
        if key.startswith(f"{wikibase.base}/prop/novalue/"):
            connection.execute(queries.ADD_CLASS, (node, "none", staging.relation(wikibase.relations + local)))
        elif wikibase.is_entity(key):
            connection.execute(queries.ADD_PROPERTY, (node, wikibase.relations + local))
        else:
            terms[key] = node
    if _BEST_RANK in terms:
        connection.execute(queries.ADD_CLASS, (terms[_BEST_RANK], "best", None))
    return terms


def _datatypes(connection: sqlite3.Connection, parameters: Mapping[str, object]) -> dict[str, str]:
    """Returns the Wikibase datatypes of the properties that the sources define, by the key of their relation."""
    rows: Iterator[tuple[str, str]] = connection.execute(queries.DATATYPES, parameters)
    kinds = ((relation, kind.removeprefix(ONTOLOGY)) for relation, kind in rows)
    return {relation: DATATYPES.get(kind, kind) for relation, kind in kinds}


def _report(staging: Staging, wikibase: Wikibase, folder: _Folder, problems: LoadProblems) -> None:
    """Notes how the sources were read, and warns if relations have no names."""
    note = f"read as the Wikibase {wikibase.base}: {folder.count:,} statements"
    if folder.omitted:
        shown = "those of the best rank" if folder.shown == "best" else "those that are not deprecated"
        note += f", of which {shown} are shown; {folder.omitted:,} others are omitted (--statements all shows them)"
    problems.notes.append(note)
    relations = json.dumps([key for key in staging.relations if key.startswith(wikibase.relations)])
    (named,) = staging.connection.execute(queries.COUNT_NAMED_PROPERTIES, (relations,)).fetchone()
    if not named:
        problems.warnings.append(
            "no property has a label in the sources, so relations are shown by their ids; --labels adds names "
            "(lines with an id, a tab and a name: P69, educated at)"
        )


@dataclass(slots=True)
class _Statement:
    """The rows of one statement, decoded. Properties are numbers of relations."""

    head: int | None = None
    property: int = 0
    best: bool = False
    rank: str = "normal"
    references: int = 0
    value: tuple[Any, ...] | None = None
    qualifiers: list[tuple[int, tuple[Any, ...] | None]] = field(default_factory=list[Any])
    full: list[tuple[int, FullValue]] = field(default_factory=list[Any])

    @classmethod
    def read(cls, rows: Iterable[tuple[Any, ...]]) -> _Statement:
        """Decodes sorted rows. A row that is there twice counts once, as in RDF."""
        statement = cls()
        for (_, role, relation, *term), _ in groupby(rows):
            match role:
                case "claim":
                    statement.property, statement.head = relation, term[0]
                case "value":
                    statement.value = tuple(term)
                case "qualifier":
                    statement.qualifiers.append((relation, tuple(term)))
                case "none":
                    statement.qualifiers.append((relation, None))
                case "full":
                    statement.full.append((relation, json.loads(term[1])))
                case "rank":
                    statement.rank = term[1].removeprefix(ONTOLOGY).removesuffix("Rank").lower()
                case "reference":
                    statement.references += 1
                case _:
                    statement.best = True
        return statement


class _Folder:
    """Makes triples with qualifiers from the rows of statements, and stages them in batches."""

    def __init__(
        self, staging: Staging, wikibase: Wikibase, datatypes: Mapping[str, str], units: Mapping[str, str]
    ) -> None:
        self._connection = staging.connection
        self._wikibase = wikibase
        self._keys = {number: key for key, number in staging.relations.items()}
        self._datatypes = {number: datatypes.get(key, "") for number, key in self._keys.items()}
        self._units = units
        self.shown: str | None = None
        """Which statements are shown: `best`, `not deprecated`, or all (None)."""
        self.count = 0
        self.omitted = 0
        self._relationships: list[tuple[int, int, int, str | None]] = []
        self._properties: list[tuple[int, int, str, str | None, str | None, str | None]] = []
        self._triples: list[tuple[int, int, int]] = []
        self._literals: list[tuple[int, int, str, str | None, str | None]] = []
        self._used: list[tuple[int]] = []
        self._text = 0

    def fold(self, rows: Iterator[tuple[Any, ...]]) -> None:
        """Stages the statements in these rows, which are sorted by statement."""
        for _, group in groupby(rows, itemgetter(0)):
            statement = _Statement.read(group)
            if statement.head is None:
                continue
            self.count += 1
            if self._is_shown(statement):
                self._add(statement, statement.head)
            else:
                self.omitted += 1

    def take_direct(self, rows: Iterator[tuple[Any, ...]]) -> None:
        """Stages values of entities without statements."""
        for head, relation, *term in rows:
            value = self._value(relation, tuple(term), ())
            if isinstance(value, dict):
                self._triples.append((head, relation, term[0]))
            else:
                self._literals.append((head, relation, str(value[0]), value[1], value[2]))
            self._flush_if_full()

    def flush(self) -> None:
        """Writes the collected rows."""
        batches: tuple[tuple[str, list[Any]], ...] = (
            (queries.STAGE_RELATIONSHIP, self._relationships),
            (queries.STAGE_PROPERTY, self._properties),
            (queries.STAGE_TRIPLE, self._triples),
            (queries.STAGE_LITERAL, self._literals),
        )
        for statement, batch in batches:
            insert(self._connection, statement, batch)
            batch.clear()
        self._connection.executemany(queries.USE, self._used)
        self._used.clear()
        self._text = 0

    def _is_shown(self, statement: _Statement) -> bool:
        if self.shown == "best":
            return statement.best
        return self.shown is None or statement.rank != "deprecated"

    def _add(self, statement: _Statement, head: int) -> None:
        qualifiers = self._qualifiers(statement)
        value = self._value(statement.property, statement.value, statement.full)
        self._text += len(qualifiers or "")
        if isinstance(value, dict) and statement.value is not None:
            self._relationships.append((head, statement.property, statement.value[0], qualifiers))
        elif isinstance(value, list):
            text = str(value[0])
            self._text += len(text)
            self._properties.append((head, statement.property, text, value[1], value[2], qualifiers))
        self._flush_if_full()

    def _flush_if_full(self) -> None:
        rows = len(self._relationships) + len(self._properties) + len(self._triples) + len(self._literals)
        if rows >= BATCH or self._text >= BATCH_TEXT:
            self.flush()

    def _qualifiers(self, statement: _Statement) -> str | None:
        """Returns the qualifiers of a statement as JSON, in the form described in `fileformat`; None without any."""
        values: dict[str, list[Value]] = {}
        for relation, term in statement.qualifiers:
            if term is None and relation == statement.property:
                continue  # the statement itself has no value
            value = self._value(relation, term, statement.full)
            if isinstance(value, dict) and term is not None:
                self._used.append((term[0],))
            values.setdefault(self._keys[relation], []).append(value)
        for several in values.values():
            several.sort(key=_text_or_id)
        if statement.rank != "normal":
            values[RANK] = [[statement.rank, None, None]]
        if statement.references:
            values[REFERENCES] = [[str(statement.references), None, None]]
        return json.dumps(values, ensure_ascii=False, separators=(",", ":")) if values else None

    def _value(
        self, relation: int, term: tuple[Any, ...] | None, full: Sequence[tuple[int, FullValue]]
    ) -> list[str | None] | dict[str, str]:
        """Returns a value as the Wikidata adapter shows it. `full` are the statement's full values by property.

        A term is the number of a node (None: a literal), its key or text, and the datatype and language of a literal.
        """
        if term is None:
            return [NO_VALUE, "novalue", None]
        node, text, datatype, language = term
        if node is not None:
            if text.startswith("_:") or _UNKNOWN in text:
                return [UNKNOWN_VALUE, "somevalue", None]
            if self._wikibase.is_entity(text):
                return {"id": text}
            return [text, self._datatypes[relation] or "url", None]
        if language:
            return [text, None, language]
        iri = XSD + datatype[4:] if datatype and datatype.startswith("xsd:") else datatype or ""
        kind = value_kind(iri, self._datatypes[relation])
        parts = next((parts for owner, parts in full if owner == relation and describes(parts, text)), _NO_PARTS)
        return [readable_value(text, kind, parts, self._unit(unit_of(parts))), shown_datatype(kind), None]

    def _unit(self, key: str) -> str:
        """Returns the label of a unit, else its id; empty without a unit."""
        if not key or key in self._units:
            return self._units.get(key, "")
        entities = self._wikibase.entities
        return f"wd:{key.removeprefix(entities)}" if key.startswith(entities) else key


def _text_or_id(value: Value) -> str:
    return value["id"] if isinstance(value, dict) else str(value[0])
