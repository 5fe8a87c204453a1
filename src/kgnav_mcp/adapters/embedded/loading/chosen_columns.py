"""The columns of a table as the user chooses them: `--head COL --tail COL`, `--id COL --edge COL`, and what goes along.

A table that has the columns is read by them; one that has none of them is read by its own shape. For a table of no
known shape, `suggested_commands` makes the commands that would load it, with its own columns in them.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kgnav_mcp.adapters.embedded.loading.columns import is_number, normalized
from kgnav_mcp.adapters.embedded.loading.headers import ARRAY_DELIMITER, Column, Dialect, Header, Role
from kgnav_mcp.clipping import comma_list, echoed
from kgnav_mcp.errors import LoadError

_LONGEST_ID = 80
"""Characters of a value that may be an id or a name; longer ones are descriptions."""
_LISTED = 200


@dataclass(frozen=True, slots=True)
class ChosenColumns:
    """Names of columns by what they hold. Each option applies to every table that has its columns."""

    head: str = ""
    tail: str = ""
    relation: str = ""
    """A column, or if no column of the table has this name, the relation of each edge."""
    id: str = ""
    name: str = ""
    label: str = ""
    """A column, or if no column of the table has this name, the label of each node."""
    edges: tuple[str, ...] = ()
    """Columns whose values are the tails of edges, which are named after the column."""
    split: tuple[tuple[str, str], ...] = ()
    """Columns with several values in a field, each with the separator."""

    @property
    def keys(self) -> dict[str, str]:
        """The columns that decide whether a table is meant, by their options."""
        options = {"--head": self.head, "--tail": self.tail, "--id": self.id}
        return {option: name for option, name in options.items() if name}

    def check(self) -> None:
        """Checks that the options go together.

        Raises:
            LoadError: one is missing, or without effect.
        """
        if bool(self.head) != bool(self.tail):
            raise LoadError(
                "--head and --tail need each other: an edge has two ends",
                next_step="Name both columns. For a table with a row for each node: --id COLUMN --edge COLUMN.",
            )
        needless = [
            option
            for option, value in (("--name", self.name), ("--label", self.label), ("--edge", self.edges))
            if value and not self.id
        ]
        if needless:
            raise LoadError(
                f"{needless[0]} needs --id", next_step="Name the column with the ids of the nodes: --id COLUMN."
            )
        if self.split and not self.keys:
            raise LoadError("--split needs --id, or --head and --tail", next_step="Name the columns of the table.")

    def header(self, source: str, fields: Sequence[str], dialect: Dialect = Dialect()) -> Header | None:  # noqa: B008 - frozen
        """Returns the header of a table with these fields in its first line; None if it has none of the columns.

        Raises:
            LoadError: it has some of the columns, or two of one name.
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
                    f"{chosen[place][1]} and {option} both name the column {echoed(name)} of {source}",
                    next_step="Name two columns.",
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
        found = Header(tuple(columns), dialect, chosen=True)
        return found if found.of(Role.LABEL) or not found.of(Role.ID) else replace(found, label=self.label)

    def check_used(self, headers: Sequence[tuple[str, Header]]) -> None:
        """Checks that every column is one of a table, after all tables are recognised.

        Raises:
            LoadError: no table has one of them.
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
                raise LoadError(f"no source is a table, for the column of {option}", next_step=f"Omit {option}.")
            raise absent_column(source, option, name, [column.title for column in header.columns])


def check_distinct_names(source: str, names: Sequence[str]) -> None:
    """Checks that no two columns have one name.

    Raises:
        LoadError: two have. The error names them.
    """
    repeated = [name for name, number in Counter(filter(None, names)).items() if number > 1]
    if repeated:
        places = [place for place, name in enumerate(names, 1) if name == repeated[0]]
        raise LoadError(
            f"the columns {comma_list([str(place) for place in places], _LISTED)} of {source} are all named "
            f"{echoed(repeated[0])}",
            next_step="Give each column a name of its own in the first line.",
        )


def absent_column(source: str, option: str, name: str, names: Sequence[str]) -> LoadError:
    """The error for a column that a table does not have, with those that it has."""
    from rapidfuzz import fuzz, process  # noqa: PLC0415 - only a wrong name needs it

    known = [each for each in names if each]
    nearest = process.extractOne(name, known, scorer=fuzz.WRatio, processor=normalized, score_cutoff=70)
    step = f"Did you mean {option} {shlex.quote(nearest[0])}? " if nearest else ""
    return LoadError(
        f"{source} has no column {echoed(name)} ({option})",
        next_step=f"{step}Its columns: {comma_list(known, _LISTED)}.",
    )


def _place(names: Sequence[str], name: str) -> int | None:
    """The place of a column: by its exact name, else by its only name that differs in case and punctuation alone."""
    if name in names:
        return list(names).index(name)
    alike = [place for place, each in enumerate(names) if normalized(each) == normalized(name)]
    return alike[0] if len(alike) == 1 else None


def suggested_commands(source: str, fields: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The commands that would load a table with these columns: as edges, and as nodes with edges.

    The first column whose values are distinct is taken for the id, and the first other column of texts for the far end.
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
    given = [value for value in values if value]
    return bool(given) and max(map(len, given)) <= _LONGEST_ID and not all(map(is_number, given))
