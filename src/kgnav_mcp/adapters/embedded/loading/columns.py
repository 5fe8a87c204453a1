"""The columns of tables of edges and nodes: recognised by the names other programs give, or chosen by the user."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kgnav_mcp.adapters.embedded.loading.headers import ARRAY_DELIMITER, Column, Dialect, Header, Role
from kgnav_mcp.clipping import comma_list, echoed
from kgnav_mcp.errors import LoadError
from kgnav_mcp.values.scalars import is_number

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
"""Names of the two columns with the ends of an edge, as in Gephi, networkx, igraph, Cytoscape, KGTK and STRING."""

ENDS_OF_STATEMENTS = (("subject", "value"), ("item", "value"), ("entity", "value"))
"""Names of columns that are the ends of an edge only if there is also a column for the relation."""

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
"""Single letters as column names. They are recognised only if all three are present."""
NODE_LETTERS = ("u", "v")
"""Single letters as column names. They are recognised only as the first two columns."""

NODE_IDS = ("id", "nodeid", "vertexid", "entityid")
"""Names of the first column of a table of nodes."""

GENERAL = frozenset(("id", "name", "title", "value", "weight", "count", "score", "date", "year", "description"))
"""Column names that show that a line is a header, but not whether of nodes or edges."""

UNDIRECTED = frozenset(("undirected", "mutual"))
DIRECTIONS = frozenset(("directed", *UNDIRECTED))
"""The values of Gephi's column `Type`."""

_PUNCTUATION = re.compile(r"[\s_.;:?#\"'()\[\]-]+")
_DATE = re.compile(r"[12]\d{3}([-/.]\d\d?.*)?|\d\d?[-/.]\d\d?[-/.]\d{2,4}.*")
_CYPHER = re.compile(r"(\w+)\.\w+")
_CYPHER_TYPE = re.compile(r"type\(\w+\)", re.IGNORECASE)


def normalized(name: str) -> str:
    """Returns a column name in the form in which names are compared."""
    return _PUNCTUATION.sub("", name).casefold()


def header_from_names(fields: Sequence[str], rows: Sequence[Sequence[str]], dialect: Dialect) -> Header | None:
    """Returns the header of a table by the names in its first line, or None if they are not a known header.

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
    known_roles = _cypher_roles(fields) or _letter_roles(names)
    if known_roles is not None:
        return known_roles
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
    values = {row[index].strip().casefold() for row in rows if index < len(row)}
    return values - {""} or {""}


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


_LONGEST_ID = 80
"""Characters of a value that may be an id or a name; longer ones are descriptions."""
_LISTED = 200


@dataclass(frozen=True, slots=True)
class ChosenColumns:
    """Columns that the user chose, by what they contain. Each option applies to every table that has its columns."""

    head: str = ""
    tail: str = ""
    relation: str = ""
    """The column of relations or, if no column of the table has this name, the relation of all its edges."""
    id: str = ""
    name: str = ""
    label: str = ""
    """The column of labels or, if no column of the table has this name, the label of all its nodes."""
    edges: tuple[str, ...] = ()
    """Columns whose values are the tails of edges, which are named after the column."""
    split: tuple[tuple[str, str], ...] = ()
    """Columns with several values in a field, each with the separator."""

    @property
    def keys(self) -> dict[str, str]:
        """The columns that decide whether the options apply to a table, by option."""
        options = {"--head": self.head, "--tail": self.tail, "--id": self.id}
        return {option: name for option, name in options.items() if name}

    def check(self) -> None:
        """Checks that the options are consistent.

        Raises:
            LoadError: an option is missing, or has no effect.
        """
        if bool(self.head) != bool(self.tail):
            raise LoadError(
                "--head and --tail must be given together",
                next_step="Name both columns. For a table with a row for each node: --id COLUMN --edge COLUMN.",
            )
        needless = [
            option
            for option, value in (("--name", self.name), ("--label", self.label), ("--edge", self.edges))
            if value and not self.id
        ]
        if needless:
            raise LoadError(
                f"{needless[0]} needs --id", next_step="Give the column with the ids of the nodes: --id COLUMN."
            )
        if self.split and not self.keys:
            raise LoadError("--split needs --id, or --head and --tail", next_step="Name the columns of the table.")

    def header(self, source: str, fields: Sequence[str], dialect: Dialect = Dialect()) -> Header | None:  # noqa: B008 - frozen
        """Returns the header of a table with these fields in its first line; None if it has none of the columns.

        Raises:
            LoadError: it has only some of the columns, or two columns with the same name.
        """
        names = [field.strip() for field in fields]
        places = {option: _place(names, name) for option, name in self.keys.items()}
        ends = {option: place for option, place in places.items() if option != "--id"}
        if any(place is not None for place in ends.values()):
            for option, place in ends.items():
                if place is None:
                    raise absent_column(source, option, self.keys[option], names)
            return self._finished(source, names, dialect, self._edge_roles(names))
        if places.get("--id") is not None:
            return self._finished(source, names, dialect, self._node_roles(source, names))
        return None

    def _edge_roles(self, names: Sequence[str]) -> list[tuple[str, Role, str]]:
        roles = [(self.head, Role.START, "--head"), (self.tail, Role.END, "--tail")]
        if self.relation and _place(names, self.relation) is not None:
            roles.append((self.relation, Role.TYPE, "--relation"))
        return roles

    def _node_roles(self, source: str, names: Sequence[str]) -> list[tuple[str, Role, str]]:
        roles = [(self.id, Role.ID, "--id")]
        roles += [(name, Role.EDGE, "--edge") for name in self.edges if _place(names, name) is not None]
        if self.name:
            if _place(names, self.name) is None:
                raise absent_column(source, "--name", self.name, names)
            if _place(names, self.name) != _place(names, self.id):
                roles.append((self.name, Role.NAME, "--name"))
        if self.label and _place(names, self.label) is not None:
            roles.append((self.label, Role.LABEL, "--label"))
        return roles

    def _finished(
        self, source: str, names: Sequence[str], dialect: Dialect, roles: Sequence[tuple[str, Role, str]]
    ) -> Header:
        check_distinct_names(source, names)
        chosen: dict[int | None, tuple[Role, str]] = {}
        for name, role, option in roles:
            place = _place(names, name)
            if place in chosen:
                raise LoadError(
                    f"{chosen[place][1]} and {option} both refer to the column {echoed(name)} of {source}",
                    next_step="Choose two columns.",
                )
            chosen[place] = role, option
        separators = {_place(names, name): separator for name, separator in self.split}
        columns = [
            Column(
                place,
                name,
                chosen[place][0] if place in chosen else Role.PROPERTY if name else Role.IGNORE,
                array=place in separators,
                separator=separators.get(place, ARRAY_DELIMITER),
            )
            for place, name in enumerate(names)
        ]
        header = Header(tuple(columns), dialect, chosen=True)
        return header if header.of(Role.LABEL) or not header.of(Role.ID) else replace(header, label=self.label)

    def check_used(self, headers: Sequence[tuple[str, Header]]) -> None:
        """Checks, once all tables are recognised, that each chosen column is in a table.

        Raises:
            LoadError: no table has one of the columns.
        """
        chosen = [(source, header) for source, header in headers if header.chosen]
        names = {normalized(column.name) for _, header in chosen for column in header.columns}
        optional = {"--edge": self.edges, "--split": tuple(name for name, _ in self.split)}
        unused = [(option, name) for option, name in self.keys.items() if normalized(name) not in names]
        unused += [
            (option, name) for option, some in optional.items() for name in some if normalized(name) not in names
        ]
        for option, name in unused:
            source, header = next(iter(chosen or headers), ("", Header(())))
            if not source:
                raise LoadError(f"{option} needs a table, and no source is one", next_step=f"Omit {option}.")
            raise absent_column(source, option, name, [column.title for column in header.columns])


def check_distinct_names(source: str, names: Sequence[str]) -> None:
    """Checks that no two columns have the same name.

    Raises:
        LoadError: two columns have the same name. The message names them.
    """
    repeated = [name for name, number in Counter(filter(None, names)).items() if number > 1]
    if repeated:
        places = [place for place, name in enumerate(names, 1) if name == repeated[0]]
        raise LoadError(
            f"the columns {comma_list([str(place) for place in places], _LISTED)} of {source} are all named "
            f"{echoed(repeated[0])}",
            next_step="Give each column a unique name in the first line.",
        )


def absent_column(source: str, option: str, name: str, names: Sequence[str]) -> LoadError:
    """Returns the error for a chosen column that a table does not have. It lists the columns of the table."""
    from rapidfuzz import fuzz, process  # noqa: PLC0415 - only a wrong name needs it

    named = [column for column in names if column]
    nearest = process.extractOne(name, named, scorer=fuzz.WRatio, processor=normalized, score_cutoff=70)
    step = f"Did you mean {option} {shlex.quote(nearest[0])}? " if nearest else ""
    return LoadError(
        f"{source} has no column {echoed(name)} ({option})",
        next_step=f"{step}Its columns: {comma_list(named, _LISTED)}.",
    )


def _place(names: Sequence[str], name: str) -> int | None:
    """The place of a column: by its exact name, else by its only name that differs in case and punctuation alone."""
    if name in names:
        return list(names).index(name)
    alike = [place for place, other in enumerate(names) if normalized(other) == normalized(name)]
    return alike[0] if len(alike) == 1 else None


def suggested_commands(source: str, fields: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns the commands that would load a table with these columns: as edges, and as nodes with edges.

    The first column with distinct values is taken for the id, and the first other column of texts for the far end.
    """
    names = [field.strip() for field in fields]
    full = [row for row in rows if len(row) == len(names)]
    if any(map(is_number, names)) or any(row[place] == name for row in full for place, name in enumerate(names)):
        return ""  # the first line is a row like the others
    texts = [place for place, name in enumerate(names) if name and _has_names([row[place] for row in full])]
    distinct = [place for place in texts if len({row[place] for row in full}) == len(full)]
    first = next(iter(distinct or texts), None)
    if first is None or len(texts) < 2:
        return ""
    second = next(place for place in texts if place != first)
    file, head, tail = (shlex.quote(text) for text in (source, names[first], names[second]))
    return (
        f"For an edge from each {names[first]} to its {names[second]}: kgnav load {file} --head {head} --tail {tail}\n"
        f"For a node for each {names[first]}, with properties and edges: kgnav load {file} --id {head} --edge {tail}"
    )


def _has_names(values: Sequence[str]) -> bool:
    """Whether the values of a column may be ids or names: short texts that are not all numbers."""
    texts = [value for value in values if value]
    return bool(texts) and max(map(len, texts)) <= _LONGEST_ID and not all(map(is_number, texts))
