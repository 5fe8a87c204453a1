"""Resolves the ids in a plan to numbers and keys of the file, and estimates sizes."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.catalogue import LabelEntry, RelationEntry
from kgnav_mcp.adapters.embedded.entities import resolved
from kgnav_mcp.adapters.embedded.plans.statement import (
    NULL,
    Statement,
    Term,
    TermKind,
    compile_comparison,
    constant,
    unsupported,
)
from kgnav_mcp.adapters.embedded.queries import plans as pieces
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.adapters.ids.prefixes import encodable
from kgnav_mcp.model import Literal
from kgnav_mcp.plan import NAME, Comparison, Constant, EdgePattern, Expression, Property
from kgnav_mcp.values.scalars import scalar

_INDEXED_LENGTH = 64
_EXACT_LIMIT = 2**53
"""Above this, an integer cannot be represented exactly as a float."""
_MAX_DISTINCT = 2_000
"""Distinct values of a property that are searched for those equal to a number, at most."""
_MAX_LIKE_DATES = 20_000
"""Values of a property that are read to see whether those that begin like a date are all texts."""
TextTest = Callable[[str], str]
"""Returns the SQL test whether the SQL of a text is one of the texts that are looked for."""
MANY = 1_000
"""Limit up to which sizes are counted to choose the start of a pattern."""


class NameResolver:
    """Resolves the names in a plan, within one job."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self._session = builder.session
        self._relations = builder.catalogue.relations(builder.session)
        self._labels = builder.catalogue.labels(builder.session)

    def relations(self, pattern: EdgePattern) -> list[int]:
        """Returns the numbers of the relations of an edge pattern.

        Raises:
            Unsupported: one is a two-hop relation.
        """
        return [entry.id for entry in self.relation_entries(pattern)] if pattern.relations else []

    def relation_entries(self, pattern: EdgePattern) -> list[RelationEntry]:
        """Returns the relations of an edge pattern, or all relations of the file if it names none.

        Raises as `relations` does.
        """
        if not pattern.relations:
            return list(self._relations.entries.values())
        entries = [self._relations.by_key(name) for name in pattern.relations]
        if any(entry is None for entry in entries):
            raise unsupported("relations through mediators")
        return list(dict.fromkeys(entry for entry in entries if entry is not None))

    def edges(self, relations: list[int]) -> int:
        """Returns the number of edges of these relations, or of all relations if none is given."""
        entries = self._relations.entries
        return sum(entries[number].edges for number in relations or entries)

    def labels(self, group: tuple[str, ...]) -> list[LabelEntry]:
        """Returns the labels of a group that exist in the file.

        Raises:
            Unsupported: a name is ambiguous.
        """
        found: list[LabelEntry] = []
        for name in group:
            entry = self._labels.by_key(name)
            if entry is None and self._labels.all(name):
                raise unsupported(f"the ambiguous label {name}")
            found += [entry] if entry is not None else []
        return found

    def properties(self, ids: tuple[str, ...]) -> list[int]:
        """Returns the numbers of these properties of nodes, without unknown ones.

        Raises:
            Unsupported: one also leads to nodes.
        """
        entries = [self._relations.by_key(name) for name in ids]
        found = [entry for entry in entries if entry is not None]
        if any(entry.edges for entry in found):
            raise unsupported("properties whose values may be nodes")
        return [entry.id for entry in found if entry.attributes]

    def qualifier(self, ids: tuple[str, ...]) -> str | None:
        """Returns the JSON path of a qualifier; None if no edge has it.

        Raises:
            Unsupported: the ids mean several qualifiers, or the key cannot be part of a path.
        """
        keys = self.qualifier_keys(ids)
        if len(keys) > 1 or any(character in key for key in keys for character in '"\\'):
            raise unsupported("a qualifier name that means several qualifiers")
        return f'$."{keys[0]}"' if keys else None

    def qualifier_keys(self, ids: tuple[str, ...]) -> list[str]:
        """Returns the stored keys of the qualifiers with these ids."""
        stored = self.builder.catalogue.qualifier_keys(self._session)
        return [key for key in stored if self.builder.qualifier_relation(key).id in ids]

    def nodes(self, ids: Sequence[str]) -> list[int]:
        """Returns the numbers of the nodes with these printed ids."""
        rows = resolved(self.builder, ids)
        return sorted({row[0] for name, row in rows.items() if self.builder.prefixes.short(row[1]) == name})

    @property
    def label_sets(self) -> Sequence[tuple[Sequence[int], int]] | None:
        """The combinations of labels that nodes have, each with its number of nodes; None if there are too many."""
        return self.builder.catalogue.label_sets(self._session)

    @property
    def entities(self) -> int:
        return self.builder.catalogue.entities

    def beginnings(self, relation: int, value: str | float) -> list[str] | None:
        """Returns the index keys (first characters) of all values equal to a text or a number; None if too many."""
        if isinstance(value, str):
            return [encodable(value)[:_INDEXED_LENGTH]]
        if abs(value) > _EXACT_LIMIT:
            return None
        known = self.builder.catalogue.texts_of_numbers
        if relation not in known:
            known[relation] = self._texts_of_numbers(relation)
        of_numbers = known[relation]
        return None if of_numbers is None else of_numbers.get(value, [])

    def may_have_dates(self, relation: int) -> bool:
        """Whether values of a property may be dates, which equal others of another precision."""
        known = self.builder.catalogue.may_have_dates
        if relation not in known:
            found, dated = self._session.one(queries.plans.TEXTS_LIKE_DATES, relation, _MAX_LIKE_DATES) or (0, 0)
            known[relation] = bool(dated) or found == _MAX_LIKE_DATES
        return known[relation]

    def _texts_of_numbers(self, relation: int) -> dict[float, list[str]] | None:
        found = [row[0] for row in self._session.all(queries.plans.BEGINNINGS, relation, _MAX_DISTINCT)]
        if len(found) == _MAX_DISTINCT or any(len(text) == _INDEXED_LENGTH for text in found):
            return None
        texts: dict[float, list[str]] = defaultdict(list)
        for text in found:
            if isinstance(value := scalar(Literal(text, "double")), int | float):
                texts[value].append(text)
        return texts

    def size(self, relation: int, beginnings: list[str]) -> int:
        """Estimates how many nodes have a value with one of these beginnings, up to MANY."""
        row = self._session.one(queries.plans.VALUE_SIZE, relation, json.dumps(beginnings), MANY)
        return int(row[0]) if row is not None else 0


_TOLERANCE = 1e-12
"""Relative tolerance for numbers that SQLite and Python may read differently."""


@dataclass(frozen=True, slots=True)
class Values:
    """How to read a property's values, one in each row: the table for FROM, the condition for WHERE, the term."""

    rows: str
    test: str
    term: Term
    in_list: str
    """The condition that a value belongs to a list: it is not the first value, or it is an item of an array."""


@dataclass(frozen=True, slots=True)
class Properties:
    """Compiles reads of properties."""

    statement: Statement
    words: NameResolver

    def equal(self, alias: str, value: Constant) -> str:
        """Returns the SQL test that a row of `attribute` under this alias has a value equal to a constant.

        The value is not a date, or the constant is not written as one.
        """
        term = replace(self._literal_term(alias), may_be_date=False)
        return compile_comparison(term, Comparison.EQUAL, constant(self.statement, value.value))[0]

    def _literal_term(self, alias: str, function: str = "kg_value") -> Term:
        sql = pieces.TYPED.format(text=f"{alias}.text", datatype=f"{alias}.datatype", function=function)
        return Term(
            TermKind.DATED if function == "kg_dated" else TermKind.VALUE, (sql,), may_be_date=True, never_list=True
        )

    def values(
        self, owner: Term, owned: Property, *, dated: bool = False, wanted: TextTest | None = None
    ) -> list[Values] | None:
        """Returns how to read all values of a property; None if it has at most one value, which `first` reads.

        `dated`: whether dates must differ from texts. `wanted`: only whether a value equals one of its texts is needed.
        """
        function = "kg_dated" if dated else "kg_value"
        if owner.kind is TermKind.NODE and not (owned.name == NAME and not owned.ids):
            found: list[Values] = []
            for relation in self.words.properties(owned.ids or (owned.name,)):
                alias = self.statement.alias("a")
                test = pieces.OF_NODE.format(alias=alias, node=owner.one, relation=relation)
                rows, in_list = pieces.VALUES.format(alias=alias), pieces.VALUE_IN_LIST.format(alias=alias)
                found.append(Values(rows, test, self._literal_term(alias, function), in_list))
            return found
        if owner.kind is TermKind.EDGE:
            path = self.words.qualifier(owned.ids or (owned.name,))
            if path is None:
                return []
            alias = self.statement.alias("j")
            rows = pieces.QUALIFIER_VALUES.format(
                qualifiers=self.qualifiers(owner), path=self.statement.parameter(path), alias=alias
            )
            in_list = pieces.QUALIFIER_IN_LIST.format(alias=alias)
            return [Values(rows, "1", self._qualifier_term(alias, function, wanted), in_list)]
        return None

    def _qualifier_term(self, alias: str, function: str = "kg_value", wanted: TextTest | None = None) -> Term:
        node = pieces.NO_NODE
        if wanted is not None and not self.words.builder.has_other_languages:
            own_id, name = (each.format(alias=alias) for each in (pieces.QUALIFIER_NODE_ID, pieces.QUALIFIER_NODE_NAME))
            node = pieces.QUALIFIER_NODE.format(id=own_id, name=name, is_id=wanted(own_id), is_name=wanted(name))
        sql = pieces.QUALIFIER_VALUE.format(alias=alias, function=function, node=node)
        return Term(
            TermKind.DATED if function == "kg_dated" else TermKind.VALUE, (sql,), may_be_date=True, never_list=True
        )

    def may_equal(self, owner: Term, owned: Property, value: Expression) -> str:
        """Returns a cheap SQL test that holds for all edges with a qualifier equal to a constant, or an empty text."""
        path = self.words.qualifier(owned.ids or (owned.name,)) if owner.kind is TermKind.EDGE else None
        if path is None or not isinstance(value, Constant):
            return ""
        own = {"qualifiers": self.qualifiers(owner), "path": self.statement.parameter(path)}
        match value.value:
            case bool() | None:
                return ""
            case str() as text:
                term = constant(self.statement, text)
                # A date equals other texts: those of another precision.
                test = pieces.MAY_BE_DATE if term.may_be_date else pieces.MAY_BE_TEXT
                return test.format(**own, value=term.one)
            case number:
                ends = sorted((number * (1 - _TOLERANCE), number * (1 + _TOLERANCE)))
                least, most = (constant(self.statement, end).one for end in ends)
                return pieces.MAY_BE_NUMBER.format(**own, least=least, most=most)

    def qualifiers(self, edge: Term) -> str:
        """Returns the SQL that reads the JSON of an edge's qualifiers."""
        if edge.qualifiers:
            return edge.qualifiers
        return pieces.QUALIFIERS.format(s=edge.sql[0], p=edge.sql[1], o=edge.sql[2], n=edge.sql[3])

    def first(self, owner: Term, owned: Property) -> Term:
        """Returns the term of a property's value, which is a list if it has several.

        Raises:
            Unsupported: names in other languages, or several properties at once.
        """
        ids = owned.ids or (owned.name,)
        if owner.kind is TermKind.NODE and owned.name == NAME and not owned.ids:
            if self.words.builder.has_other_languages:
                raise unsupported("names in languages other than the file's")
            return Term(TermKind.TEXT, (pieces.CALLED.format(node=owner.one),), may_be_date=True)
        if owner.kind is TermKind.NODE:
            relations = self.words.properties(ids)
            if len(relations) > 1:
                raise unsupported("a property name that means several properties")
            if not relations:
                return NULL
            alias = self.statement.alias("a")
            value = self._literal_term(alias).one
            sql = pieces.FIRST_VALUE.format(alias=alias, node=owner.one, relation=relations[0], value=value)
            return Term(TermKind.VALUE, (sql,), may_be_date=True, of_property=True)
        if owner.kind is TermKind.EDGE:
            path = self.words.qualifier(ids)
            if path is None:
                return NULL
            alias = self.statement.alias("j")
            sql = pieces.FIRST_QUALIFIER.format(
                value=self._qualifier_term(alias).one,
                qualifiers=self.qualifiers(owner),
                path=self.statement.parameter(path),
                alias=alias,
            )
            return Term(TermKind.VALUE, (sql,), may_be_date=True, of_property=True)
        return NULL


def rows_of(values: list[Values]) -> str:
    """Returns the FROM and WHERE of a query over all combinations of the properties' values."""
    rows, tests = " CROSS JOIN ".join(each.rows for each in values), " AND ".join(each.test for each in values)
    return f"{rows} WHERE {tests}" if values else ""
