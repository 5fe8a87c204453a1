"""Compiles reads of properties: attributes of nodes and qualifiers of edges."""

from __future__ import annotations

from dataclasses import dataclass

from kgnav_mcp.adapters.embedded.plans.comparisons import compile_comparison, constant
from kgnav_mcp.adapters.embedded.plans.names import NameResolver
from kgnav_mcp.adapters.embedded.plans.statement import NULL, Statement, Term, TermKind, unsupported
from kgnav_mcp.adapters.embedded.queries import plans as pieces
from kgnav_mcp.plan import NAME, Comparison, Constant, Expression, Property

_TOLERANCE = 1e-12
"""Relative tolerance for numbers that SQLite and Python may read differently."""


@dataclass(frozen=True, slots=True)
class Values:
    """The values of a property, one in each row: the table for FROM, the condition for WHERE, the value's term."""

    rows: str
    test: str
    term: Term
    in_list: str
    """The condition that a value shows that the property is a list: it is not the first one, or an item of an array."""


@dataclass(frozen=True, slots=True)
class Properties:
    """Compiles reads of properties."""

    statement: Statement
    words: NameResolver

    def equal(self, alias: str, value: Constant) -> str:
        """Returns the SQL test that a row of `attribute` under this alias has a value equal to a constant."""
        return compile_comparison(self._literal_term(alias), Comparison.EQUAL, constant(self.statement, value.value))[0]

    def _literal_term(self, alias: str, function: str = "kg_value") -> Term:
        sql = pieces.TYPED.format(text=f"{alias}.text", datatype=f"{alias}.datatype", function=function)
        return Term(
            TermKind.DATED if function == "kg_dated" else TermKind.VALUE, (sql,), may_be_date=True, never_list=True
        )

    def values(self, owner: Term, owned: Property, *, dated: bool = False) -> list[Values] | None:
        """Returns the reads of all values of a property; None if it has at most one value, which `first` reads.

        `dated`: whether dates must differ from texts.
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
            return [Values(rows, "1", self._qualifier_term(alias, function), in_list)]
        return None

    def _qualifier_term(self, alias: str, function: str = "kg_value") -> Term:
        sql = pieces.QUALIFIER_VALUE.format(alias=alias, function=function)
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
                raise unsupported("names in other languages than the file's")
            return Term(TermKind.TEXT, (pieces.CALLED.format(node=owner.one),), may_be_date=True)
        if owner.kind is TermKind.NODE:
            relations = self.words.properties(ids)
            if len(relations) > 1:
                raise unsupported("several properties as one")
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
