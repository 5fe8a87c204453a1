"""Column names that other programs write over edges and nodes, and which role each has.

The names are compared without letter case, blanks and punctuation: `Source ID`, `source_id` and `?sourceId` are one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgnav_mcp.adapters.embedded.loading.headers import Column, Dialect, Header, Role

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
"""The same where a column of relations is needed to tell that the rows are statements."""

ENDINGS = ("", "id", "node", "nodeid", "key", "uri", "iri", "entity", "name", "label")
"""What may stand behind each of the names above: `source_id`, `startNode`, `from_name`."""

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
"""Names of the column with the relation, the surest first; `type`, `label` and `kind` are relations elsewhere, too."""

SURE_RELATIONS = RELATIONS[: RELATIONS.index("edgetype")]
"""In the middle of a first line these tell that it is a header: hardly a graph has a relation of that name."""
RELATION_ENDINGS = ("type", "id", "name", "label", "uri", "iri")
"""What may stand behind each of these: `relation_id`. (`edge_id` is the id of an edge.)"""

LETTERS = (("s", "p", "o"), ("h", "r", "t"))
"""Single letters mean something only where all three are there."""
NODE_LETTERS = ("u", "v")
"""And these where they are the first two columns."""

NODE_IDS = ("id", "nodeid", "vertexid", "entityid")
"""Names of the first column of a table of nodes."""

GENERAL = frozenset(("id", "name", "title", "value", "weight", "count", "score", "date", "year", "description"))
"""Column names that tell nothing of an edge, and yet that a line is a header."""

DIRECTIONS = frozenset(("directed", "undirected", "mutual"))
"""What Gephi has in its column `Type`."""

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
"""A number, as programs write them."""

_PUNCTUATION = re.compile(r"[\s_.;:?#\"'()\[\]-]+")
_DATE = re.compile(r"[12]\d{3}([-/.]\d\d?.*)?|\d\d?[-/.]\d\d?[-/.]\d{2,4}.*")
_CYPHER = re.compile(r"(\w+)\.\w+")
_CYPHER_TYPE = re.compile(r"type\(\w+\)", re.IGNORECASE)


def normalized(name: str) -> str:
    """A column name as it is compared."""
    return _PUNCTUATION.sub("", name).casefold()


def is_number(text: str) -> bool:
    """Whether a text is a number and nothing else."""
    return NUMBER.fullmatch(text) is not None


def header_from_names(fields: Sequence[str], rows: Sequence[Sequence[str]], dialect: Dialect) -> Header | None:
    """The header that a first line is, `rows` being some below it; None where its names say nothing of edges or nodes.

    A header of edges has the roles START and END, and TYPE where a column names the relation; one of nodes has ID.
    What has no other role is a property: of the edge, or of the node.
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
        Column(place, field.strip(), roles.get(place, Role.PROPERTY if field.strip() else Role.IGNORE))
        for place, field in enumerate(fields)
    )
    return Header(columns, dialect, optional_type=optional)


def is_node_header(fields: Sequence[str]) -> bool:
    """Whether a line is the header of a table of ids and names."""
    return normalized(fields[0]) in NODE_IDS and normalized(fields[1]) in {"label", "name", "title"}


def _edge_roles(fields: Sequence[str], names: list[str], rows: Sequence[Sequence[str]]) -> dict[int, Role] | None:
    """Roles by place, None where no two columns are the ends of an edge."""
    found = _cypher(fields) or _letters(names)
    if found is not None:
        return found
    relation = _relation(names, rows)
    pairs = (*ENDS, *ENDS_OF_STATEMENTS) if relation is not None else ENDS
    for ending in ENDINGS:
        for head, tail in pairs:
            start, end = _place(names, head + ending), _place(names, tail + ending)
            if start is None or end is None or _dates(start, rows) or _dates(end, rows):
                continue
            roles = {start: Role.START, end: Role.END}
            if relation is None and (start, end, len(names)) == (0, 2, 3) and not any(map(is_number, _values(1, rows))):
                roles[1] = Role.TYPE  # whatever it is called, what stands between the two ends ties them together
            if relation is not None and relation not in roles:
                roles[relation] = Role.TYPE
            _add_names(roles, names, {Role.START: head, Role.END: tail})
            return roles
    return None


def _cypher(fields: Sequence[str]) -> dict[int, Role] | None:
    """`a.name, type(r), b.name`: what Neo4j writes over the columns of a query that names none of them."""
    variables: dict[str, int] = {}
    for place, field in enumerate(fields):
        if match := _CYPHER.fullmatch(field.strip()):
            variables.setdefault(match[1], place)
    types = [place for place, field in enumerate(fields) if _CYPHER_TYPE.fullmatch(field.strip())]
    if len(types) != 1 or len(variables) < 2:
        return None
    start, end, *_ = variables.values()
    return {start: Role.START, types[0]: Role.TYPE, end: Role.END}


def _letters(names: list[str]) -> dict[int, Role] | None:
    for letters in LETTERS:
        if sorted(names) == sorted(letters):
            return dict(zip(map(names.index, letters), (Role.START, Role.TYPE, Role.END), strict=True))
    return {0: Role.START, 1: Role.END} if tuple(names[:2]) == NODE_LETTERS else None


def _relation(names: list[str], rows: Sequence[Sequence[str]]) -> int | None:
    longer = (relation + ending for ending in RELATION_ENDINGS for relation in SURE_RELATIONS)
    for name in (*RELATIONS, *longer):
        place = _place(names, name)
        if place is not None and not _values(place, rows) <= DIRECTIONS:
            return place
    return None


def _add_names(roles: dict[int, Role], names: list[str], stems: dict[Role, str]) -> None:
    """Give their roles to columns that name the head, the relation or the tail: `itemLabel` beside `item`."""
    parts = {role: (names[place], stems.get(role, names[place])) for place, role in roles.items()}
    for role, (full, stem) in parts.items():
        for name in (full + "label", full + "name", stem + "label", stem + "name"):
            place = _place(names, name)
            if place is not None and place not in roles:
                roles[place] = {Role.START: Role.START_NAME, Role.TYPE: Role.TYPE_NAME, Role.END: Role.END_NAME}[role]
                break


def _place(names: list[str], name: str) -> int | None:
    return names.index(name) if names.count(name) == 1 else None


def _values(place: int, rows: Sequence[Sequence[str]]) -> set[str]:
    """The values in a column, without letter case; a column without any has the empty one."""
    found = {row[place].strip().casefold() for row in rows if place < len(row)}
    return found - {""} or {""}


def _dates(place: int, rows: Sequence[Sequence[str]]) -> bool:
    """Whether a column, such as `start`, holds points in time and not nodes."""
    return bool(rows) and all(_DATE.fullmatch(value) for value in _values(place, rows))


def looks_like_header(fields: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a first line of three fields is more likely the names of columns than a triple.

    It is a triple where one of its values comes again in the same column, or is a number. Beyond that, the relation
    must be a word for a relation, or two of the fields must be usual names of columns.
    """
    if any(is_number(field) for field in fields):
        return False
    if any(field == row[place] for row in rows for place, field in enumerate(fields) if place < len(row)):
        return False
    names = [normalized(field) for field in fields]
    usual = GENERAL.union(RELATIONS, *ENDS, *ENDS_OF_STATEMENTS)
    return (len(names) == 3 and names[1] in SURE_RELATIONS) or sum(name in usual for name in names) > 1
