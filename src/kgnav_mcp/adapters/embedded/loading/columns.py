"""Recognises the column names that other programs give to tables of edges and nodes.

Names are compared without letter case, blanks and punctuation: `Source ID`, `source_id` and `?sourceId` are the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgnav_mcp.adapters.embedded.loading.headers import NUMBER, Column, Dialect, Header, Role

ENDS = (
    ("source", "target"),
    ("subject", "object"),
    ("head", "tail"),
    ("from", "to"),
    ("start", "end"),
    ("src", "dst"),
    ("src", "dest"),
    ("src", "tgt"),
    ("source", "destination"),
    ("subj", "obj"),
    ("sub", "obj"),
    ("node1", "node2"),
    ("nodea", "nodeb"),
    ("entity1", "entity2"),
    ("vertex1", "vertex2"),
    ("e1", "e2"),
    ("id1", "id2"),
    ("item1", "item2"),
    ("person1", "person2"),
    ("gene1", "gene2"),
    ("protein1", "protein2"),
)
"""Names of the columns with the two ends of an edge: Gephi, networkx, igraph, Cytoscape, KGTK, STRING, ..."""

ENDS_OF_STATEMENTS = (("subject", "value"), ("item", "value"), ("entity", "value"))
"""Names that only mean the ends of an edge if there is also a column for the relation."""

ENDINGS = ("", "id", "node", "nodeid", "key", "uri", "iri", "entity", "name", "label")
"""Suffixes of the names above: `source_id`, `startNode`, `from_name`."""

RELATIONS = (
    "relation",
    "relationship",
    "predicate",
    "pred",
    "rel",
    "property",
    "prop",
    "interaction",
    "edgetype",
    "linktype",
    "edgelabel",
    "edge",
    "link",
    "type",
    "label",
    "kind",
)
"""Names of the column with the relation, most specific first. `type`, `label`, `kind` may also be graph relations."""

SURE_RELATIONS = RELATIONS[: RELATIONS.index("edgetype")]
"""As the middle field of a first line, these mean a header: hardly any graph has a relation with such a name."""
RELATION_ENDINGS = ("type", "id", "name", "label", "uri", "iri")
"""Suffixes of these names: `relation_id`. (`edge_id` is the id of an edge.)"""

LETTERS = (("s", "p", "o"), ("h", "r", "t"))
"""Single letters, recognised only if all three are there."""
NODE_LETTERS = ("u", "v")
"""Single letters, recognised only as the first two columns."""

NODE_IDS = ("id", "nodeid", "vertexid", "entityid")
"""Names of the first column of a table of nodes."""

GENERAL = frozenset(("id", "name", "title", "value", "weight", "count", "score", "date", "year", "description"))
"""Column names that show that a line is a header, but not what it is a header of."""

UNDIRECTED = frozenset(("undirected", "mutual"))
DIRECTIONS = frozenset(("directed", *UNDIRECTED))
"""The values of Gephi's column `Type`."""

_PUNCTUATION = re.compile(r"[\s_.;:?#\"'()\[\]-]+")
_DATE = re.compile(r"[12]\d{3}([-/.]\d\d?.*)?|\d\d?[-/.]\d\d?[-/.]\d{2,4}.*")
_CYPHER = re.compile(r"(\w+)\.\w+")
_CYPHER_TYPE = re.compile(r"type\(\w+\)", re.IGNORECASE)


def normalized(name: str) -> str:
    """Returns the form of a column name that is compared."""
    return _PUNCTUATION.sub("", name).casefold()


def is_number(text: str) -> bool:
    """Whether the whole text is a number."""
    return NUMBER.fullmatch(text) is not None


def header_from_names(fields: Sequence[str], rows: Sequence[Sequence[str]], dialect: Dialect) -> Header | None:
    """Returns the header of a table by the names in its first line, or None if it is no known header.

    `rows` are some rows below it. A header of edges has the roles START and END, and TYPE if a column has the
    relation; a header of nodes has ID. All other columns are properties of the edge or the node.
    """
    names = [normalized(field) for field in fields]
    roles = _edge_roles(fields, names, rows)
    optional = False
    if roles is None:
        if len(names) < 2 or names[0] not in NODE_IDS:
            return None
        roles = {0: Role.ID}
    else:
        optional = "type" in names and names.index("type") not in roles and Role.TYPE in roles.values()
    columns = tuple(
        Column(index, field.strip(), roles.get(index, Role.PROPERTY if field.strip() else Role.IGNORE))
        for index, field in enumerate(fields)
    )
    return Header(columns, dialect, optional_type=optional)


def is_node_header(fields: Sequence[str]) -> bool:
    """Whether a line is the header of a table with ids and names."""
    return normalized(fields[0]) in NODE_IDS and normalized(fields[1]) in {"label", "name", "title"}


def _edge_roles(fields: Sequence[str], names: list[str], rows: Sequence[Sequence[str]]) -> dict[int, Role] | None:
    """Returns roles by column index; None if no two columns are the ends of an edge."""
    found = _cypher_roles(fields) or _letter_roles(names)
    if found is not None:
        return found
    relation = _relation_column(names, rows)
    pairs = (*ENDS, *ENDS_OF_STATEMENTS) if relation is not None else ENDS
    for ending in ENDINGS:
        for head, tail in pairs:
            start, end = _index_of(names, head + ending), _index_of(names, tail + ending)
            if start is None or end is None or _has_dates(start, rows) or _has_dates(end, rows):
                continue
            roles = {start: Role.START, end: Role.END}
            if (
                relation is None
                and (start, end, len(names)) == (0, 2, 3)
                and not any(map(is_number, _column_values(1, rows)))
            ):
                roles[1] = Role.TYPE  # the column between the two ends is the relation, whatever its name
            if relation is not None and relation not in roles:
                roles[relation] = Role.TYPE
            _add_names(roles, names, {Role.START: head, Role.END: tail})
            return roles
    return None


def _cypher_roles(fields: Sequence[str]) -> dict[int, Role] | None:
    """Recognises `a.name, type(r), b.name`, the column names of a Neo4j query without aliases."""
    variables: dict[str, int] = {}
    for index, field in enumerate(fields):
        if match := _CYPHER.fullmatch(field.strip()):
            variables.setdefault(match[1], index)
    types = [place for place, field in enumerate(fields) if _CYPHER_TYPE.fullmatch(field.strip())]
    if len(types) != 1 or len(variables) < 2:
        return None
    start, end, *_ = variables.values()
    return {start: Role.START, types[0]: Role.TYPE, end: Role.END}


def _letter_roles(names: list[str]) -> dict[int, Role] | None:
    for letters in LETTERS:
        if sorted(names) == sorted(letters):
            return dict(zip(map(names.index, letters), (Role.START, Role.TYPE, Role.END), strict=True))
    return {0: Role.START, 1: Role.END} if tuple(names[:2]) == NODE_LETTERS else None


def _relation_column(names: list[str], rows: Sequence[Sequence[str]]) -> int | None:
    with_endings = (relation + ending for ending in RELATION_ENDINGS for relation in SURE_RELATIONS)
    for name in (*RELATIONS, *with_endings):
        index = _index_of(names, name)
        if index is not None and not _column_values(index, rows) <= DIRECTIONS:
            return index
    return None


def _add_names(roles: dict[int, Role], names: list[str], stems: dict[Role, str]) -> None:
    """Adds roles for columns with the names of the head, relation or tail, such as `itemLabel` beside `item`."""
    parts = {role: (names[place], stems.get(role, names[place])) for place, role in roles.items()}
    for role, (full, stem) in parts.items():
        for name in (full + "label", full + "name", stem + "label", stem + "name"):
            index = _index_of(names, name)
            if index is not None and index not in roles:
                roles[index] = {Role.START: Role.START_NAME, Role.TYPE: Role.TYPE_NAME, Role.END: Role.END_NAME}[role]
                break


def _index_of(names: list[str], name: str) -> int | None:
    return names.index(name) if names.count(name) == 1 else None


def _column_values(index: int, rows: Sequence[Sequence[str]]) -> set[str]:
    """Returns the case-folded values of a column. A column without values has the empty text."""
    found = {row[index].strip().casefold() for row in rows if index < len(row)}
    return found - {""} or {""}


def _has_dates(index: int, rows: Sequence[Sequence[str]]) -> bool:
    """Whether a column, such as `start`, holds dates instead of nodes."""
    return bool(rows) and all(_DATE.fullmatch(value) for value in _column_values(index, rows))


def looks_like_header(fields: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a first line of three fields is more likely a header than a triple.

    It is a triple if one of its fields is a number or occurs again in the same column. Otherwise it is a header if the
    middle field is a usual name for the relation, or if two fields are usual column names.
    """
    if any(is_number(field) for field in fields):
        return False
    if any(field == row[place] for row in rows for place, field in enumerate(fields) if place < len(row)):
        return False
    names = [normalized(field) for field in fields]
    usual_names = GENERAL.union(RELATIONS, *ENDS, *ENDS_OF_STATEMENTS)
    return (len(names) == 3 and names[1] in SURE_RELATIONS) or sum(name in usual_names for name in names) > 1
