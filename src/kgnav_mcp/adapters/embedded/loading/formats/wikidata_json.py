"""Reads Wikidata's JSON: the dump with one entity per line, and the data of a single page (`Special:EntityData`).

Each entity becomes the triples of its RDF export (https://www.mediawiki.org/wiki/Wikibase/Indexing/RDF_Dump_Format)
that a load uses: names, statements with rank, qualifiers and the number of references. Sitelinks, forms and senses of
lexemes, and statements about references are omitted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from itertools import chain
from typing import Any, Final, cast
from urllib.parse import quote

import pyoxigraph as ox

from kgnav_mcp.adapters.embedded.loading.formats.beginnings import json_keys
from kgnav_mcp.adapters.embedded.loading.formats.rdf import stage_quads
from kgnav_mcp.adapters.embedded.loading.names import NameRules
from kgnav_mcp.adapters.embedded.loading.options import LoadProblems
from kgnav_mcp.adapters.embedded.loading.sources import (
    LONGEST_LINE,
    FileFormat,
    Source,
    SourceReader,
    blocks,
    too_long,
    translated,
)
from kgnav_mcp.adapters.embedded.loading.staging_writer import Staging
from kgnav_mcp.adapters.wellknown import PREFIXES, RDF_TYPE, RDFS, XSD

Json = Mapping[str, Any]
Term = ox.NamedNode | ox.Literal

BASE: Final = "http://www.wikidata.org"
_ENTITY: Final = f"{BASE}/entity/"
_PROP: Final = f"{BASE}/prop/"
_ONTOLOGY: Final = PREFIXES["wikibase"]
_RANKS: Final = {"preferred": "PreferredRank", "normal": "NormalRank", "deprecated": "DeprecatedRank"}
_DAY: Final = 11
_JULIAN: Final = f"{_ENTITY}Q1985786"
_MALFORMED: Final = (KeyError, TypeError, ValueError, AttributeError)


def _iri(text: str) -> ox.NamedNode:
    return ox.NamedNode(text)


_TYPE = _iri(RDF_TYPE)
_STATEMENT, _BEST, _RANK = (_iri(_ONTOLOGY + name) for name in ("Statement", "BestRank", "rank"))
_DERIVED = _iri(PREFIXES["prov"] + "wasDerivedFrom")
_NAMES = {
    "labels": _iri(RDFS + "label"),
    "descriptions": _iri("http://schema.org/description"),
    "aliases": _iri(PREFIXES["skos"] + "altLabel"),
}


def read_wikidata_json(source: Source, index: int, staging: Staging, rules: NameRules, problems: LoadProblems) -> None:
    """Stages the entities of a source.

    Raises:
        LoadError: the source cannot be read.
        BadLine: an entity is malformed, and bad lines are not skipped.
    """
    with translated(source), source.open() as reader:
        quads = _quads(source, reader, problems)
        stage_quads(quads, source, index, staging, rules, position=lambda: reader.position)


def _quads(source: Source, reader: SourceReader, problems: LoadProblems) -> Iterator[ox.Quad]:
    for number, text in _documents(source, reader):
        try:
            quads = [quad for entity in _entities(json.loads(text)) for quad in _entity(entity)]
        except _MALFORMED as error:
            problems.reject(source.name, number, f"the line is not an entity in Wikidata's JSON: {error!r:.100}")
            continue
        yield from quads


def _documents(source: Source, reader: SourceReader) -> Iterator[tuple[int, bytes]]:
    """Yields the lines of a dump, each with its number; of JSON whose objects span lines, the whole."""
    parts = blocks(source, reader)
    first = next(parts, b"")
    if _spans_lines(first):
        whole = bytearray(first)
        for part in parts:
            whole += part
            if len(whole) > LONGEST_LINE:
                raise too_long(source)
        yield 1, bytes(whole)
        return
    number = 0
    for block in chain((first,), parts):
        for line in block.split(b"\n"):
            number += 1
            text = line.strip().rstrip(b",")
            if text not in {b"", b"[", b"]"}:
                yield number, text
        number -= block.endswith(b"\n")


def _spans_lines(block: bytes) -> bool:
    """Whether the first entity does not end in its line."""
    first = next((line for line in block.split(b"\n") if line.strip() not in {b"", b"["}), b"")
    try:
        json.loads(first.strip().rstrip(b","))
    except ValueError:
        return not first.rstrip().endswith((b"}", b"},"))
    return False


def _entities(document: Any) -> Iterator[Json]:  # noqa: ANN401 - whatever JSON has
    """Yields the entities of a line: one of a dump, or those of a page's data."""
    if isinstance(document, dict) and "entities" in document:
        yield from cast("Json", document)["entities"].values()
    elif isinstance(document, list):
        yield from cast("list[Json]", document)
    else:
        yield document


def _entity(entity: Json) -> Iterator[ox.Quad]:
    subject = _iri(_ENTITY + entity["id"])
    for kind, relation in _NAMES.items():
        for texts in _by_key(entity, kind):
            for text in cast("list[Json]", texts if isinstance(texts, list) else [texts]):
                yield ox.Quad(subject, relation, ox.Literal(text["value"], language=text["language"]))
    if entity.get("type") == "property":
        kind = "".join(part[:1].upper() + part[1:] for part in str(entity["datatype"]).split("-"))
        yield ox.Quad(subject, _TYPE, _iri(_ONTOLOGY + "Property"))
        yield ox.Quad(subject, _iri(_ONTOLOGY + "propertyType"), _iri(_ONTOLOGY + kind))
        yield ox.Quad(subject, _iri(_ONTOLOGY + "directClaim"), _iri(f"{_PROP}direct/{entity['id']}"))
    for statements in _by_key(entity, "claims"):
        ranks = {statement["rank"] for statement in statements}
        best = "preferred" if "preferred" in ranks else "normal"
        for statement in statements:
            yield from _statement(subject, statement, is_best=statement["rank"] == best)


def _by_key(parent: Json, name: str) -> Iterator[Any]:
    """Yields the values of an object within an object. PHP writes an empty one as an array."""
    yield from cast("Json", parent.get(name) or {}).values()


def _statement(subject: ox.NamedNode, statement: Json, *, is_best: bool) -> Iterator[ox.Quad]:
    node = _iri(f"{_ENTITY}statement/{statement['id'].replace('$', '-')}")
    main = statement["mainsnak"]
    yield ox.Quad(subject, _iri(_PROP + main["property"]), node)
    yield ox.Quad(node, _TYPE, _STATEMENT)
    yield ox.Quad(node, _RANK, _iri(_ONTOLOGY + _RANKS[statement["rank"]]))
    if is_best:
        yield ox.Quad(node, _TYPE, _BEST)
    yield from _snak(node, main, "statement/")
    for snaks in _by_key(statement, "qualifiers"):
        for snak in snaks:
            yield from _snak(node, snak, "qualifier/")
    for reference in statement.get("references", ()):
        yield ox.Quad(node, _DERIVED, _iri(f"{BASE}/reference/{reference['hash']}"))


def _snak(node: ox.NamedNode, snak: Json, folder: str) -> Iterator[ox.Quad]:
    name = snak["property"]
    if snak["snaktype"] == "novalue":
        yield ox.Quad(node, _TYPE, _iri(f"{_PROP}novalue/{name}"))
        return
    relation = _iri(f"{_PROP}{folder}{name}")
    if snak["snaktype"] == "somevalue":
        unknown = sha256(f"{node.value} {folder}{name} {snak.get('hash', '')}".encode()).hexdigest()[:32]
        yield ox.Quad(node, relation, _iri(f"{BASE}/.well-known/genid/{unknown}"))
        return
    value = snak["datavalue"]
    simple, parts = _VALUES[value["type"]](value["value"], snak.get("datatype", ""))
    yield ox.Quad(node, relation, simple)
    if parts:
        digest = sha256(json.dumps(value["value"], sort_keys=True).encode()).hexdigest()[:32]
        full = _iri(f"{BASE}/value/{digest}")
        yield ox.Quad(node, _iri(f"{_PROP}{folder}value/{name}"), full)
        for part, term in parts.items():
            yield ox.Quad(full, _iri(_ONTOLOGY + part), term)


_Value = tuple[Term, Mapping[str, Term]]
"""A value as `ps:` has it, and the parts of its full value."""


def _string(value: Any, datatype: str) -> _Value:  # noqa: ANN401 - JSON
    if datatype == "url":
        return _iri(quote(value, safe=":/?#[]@!$&'()*+,;=%~-._")), {}
    if datatype == "commonsMedia":
        return _iri(f"http://commons.wikimedia.org/wiki/Special:FilePath/{quote(value)}"), {}
    if datatype in {"geo-shape", "tabular-data"}:
        return _iri(f"http://commons.wikimedia.org/data/main/{quote(value.replace(' ', '_'), safe=':/')}"), {}
    return ox.Literal(value), {}


def _entity_id(value: Any, _: str) -> _Value:  # noqa: ANN401 - JSON
    letter = {"item": "Q", "property": "P", "lexeme": "L"}.get(value.get("entity-type", ""), "")
    return _iri(_ENTITY + (value.get("id") or f"{letter}{value['numeric-id']}")), {}


def _monolingual(value: Any, _: str) -> _Value:  # noqa: ANN401 - JSON
    return ox.Literal(value["text"], language=value["language"]), {}


def _time(value: Any, _: str) -> _Value:  # noqa: ANN401 - JSON
    moment = ox.Literal(_date_time(value), datatype=_iri(XSD + "dateTime"))
    parts: dict[str, Term] = {
        "timeValue": moment,
        "timePrecision": ox.Literal(value["precision"]),
        "timeCalendarModel": _iri(value["calendarmodel"]),
    }
    return moment, parts


def _date_time(value: Json) -> str:
    """The moment as the RDF export writes it: with a month and a day, in the Gregorian calendar, year 0 for 1 BCE."""
    sign, text = value["time"][0], value["time"][1:]
    date, clock = text.split("T")
    year, month, day = (int(part) for part in date.split("-"))
    year = 1 - year if sign == "-" else year
    month, day = month or 1, day or 1
    if value["calendarmodel"] == _JULIAN and value["precision"] >= _DAY:
        year, month, day = _gregorian(year, month, day)
    written = f"-{-year:04}" if year < 0 else f"{year:04}"
    return f"{written}-{month:02}-{day:02}T{clock}"


def _gregorian(year: int, month: int, day: int) -> tuple[int, int, int]:
    """A day of the Julian calendar in the Gregorian one, by its Julian day number."""
    shift = (14 - month) // 12
    years = year + 4800 - shift
    number = day + (153 * (month + 12 * shift - 3) + 2) // 5 + 365 * years + years // 4 - 32083 + 32044
    century = (4 * number + 3) // 146097
    rest = number - 146097 * century // 4
    years = (4 * rest + 3) // 1461
    rest -= 1461 * years // 4
    months = (5 * rest + 2) // 153
    return (
        100 * century + years - 4800 + months // 10,
        months + 3 - 12 * (months // 10),
        rest - (153 * months + 2) // 5 + 1,
    )


def _quantity(value: Any, _: str) -> _Value:  # noqa: ANN401 - JSON
    amount = ox.Literal(value["amount"], datatype=_iri(XSD + "decimal"))
    unit = f"{_ENTITY}Q199" if value["unit"] == "1" else value["unit"]
    return amount, {"quantityAmount": amount, "quantityUnit": _iri(unit)}


def _coordinates(value: Any, _: str) -> _Value:  # noqa: ANN401 - JSON
    globe = value.get("globe") or ""
    prefix = "" if globe in {"", f"{_ENTITY}Q2"} else f"<{globe}> "
    point = f"{prefix}Point({value['longitude']} {value['latitude']})"
    return ox.Literal(point, datatype=_iri("http://www.opengis.net/ont/geosparql#wktLiteral")), {}


_VALUES: Mapping[str, Callable[[Any, str], _Value]] = {
    "string": _string,
    "wikibase-entityid": _entity_id,
    "monolingualtext": _monolingual,
    "time": _time,
    "quantity": _quantity,
    "globecoordinate": _coordinates,
}


def _begins(start: bytes) -> bool:
    first = start.lstrip(b"\xef\xbb\xbf \r\n\t[")
    if b'"entities"' in first[:20] and b'"claims"' in start:
        return True
    keys = json_keys(first)
    return b'"claims"' in start and {"type", "id", "labels"} <= keys


WIKIDATA_JSON = FileFormat("wikidata", "Wikidata's JSON", "rdf", begins=_begins, read=read_wikidata_json)
