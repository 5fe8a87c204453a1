"""Plans made at random, with every word of the algebra."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from random import Random
from typing import TypeVar, cast

from kgnav_mcp.plan import (
    UNNAMED,
    Aggregate,
    AggregateFunction,
    Arithmetic,
    ArithmeticOperator,
    Call,
    Case,
    Clause,
    Column,
    Compare,
    Comparison,
    ComparisonChain,
    Comprehension,
    Connective,
    Constant,
    CountOf,
    During,
    EdgePattern,
    Element,
    Exists,
    Expression,
    Function,
    HasLabel,
    IsNull,
    Joined,
    ListOf,
    Match,
    NodePattern,
    Not,
    Order,
    PathKind,
    PathLength,
    PathPattern,
    Pipeline,
    Plan,
    Project,
    Property,
    Quantified,
    Quantifier,
    Reduction,
    Scalar,
    Slice,
    Unwind,
    Variable,
    is_named,
)
from kgnav_mcp.values.aggregates import AGGREGATES
from kgnav_mcp.values.functions import FUNCTIONS

T = TypeVar("T")

NAMES = [
    "x",
    "name",
    "order",
    "Film",
    "wdt:P57",
    "film.starring",
    "MATCH",
    "is",
    "it's",
    "a`b",
    "year",
    "Größe",
    "电影",
]
EVEN_WORSE_NAMES = [" ", "a\nb", "-->"]
SCALARS: list[Scalar] = [
    None,
    True,
    False,
    0,
    1,
    -7,
    2**63 - 1,
    0.5,
    -1e-9,
    1e300,
    "",
    "x",
    "it's",
    '"',
    "\\",
    "a\nb\t\r",
    "电影",
    "$x",
    "\0",
    "`",
]
_NODES = ("n", "node ")
DATES = [None, "1990-01-31", "1995"]


@dataclass(slots=True)
class RandomPlans:
    """Makes plans. Variables are new in each pattern; some have no name."""

    random: Random
    _variables: int = 0
    _members: int = 0

    def plan(self) -> Plan:
        first = self._pipeline()
        if not self._perhaps(0.2):
            return Plan((first,))
        names = [column.name for column in first.result.columns]
        columns = tuple([Column(name, Constant(self._one(SCALARS))) for name in names])
        return Plan((first, Pipeline((Project(columns),))), keep_duplicates=self._perhaps())

    def _pipeline(self) -> Pipeline:
        scope: list[str] = []
        clauses: list[Clause] = []
        for _ in range(self.random.randint(0, 3)):
            make = self._one([self._match, self._match, self._unwind, self._project])
            clause, scope = make(scope)
            clauses.append(clause)
        last, _ = self._project([name for name in scope if is_named(name)], last=True)
        return Pipeline((*clauses, last))

    def _perhaps(self, chance: float = 0.5) -> bool:
        return self.random.random() < chance

    def _one(self, choices: Sequence[T]) -> T:
        return choices[self.random.randrange(len(choices))]

    def _some(self, make: Callable[[], T], least: int, most: int) -> tuple[T, ...]:
        return tuple([make() for _ in range(self.random.randint(least, most))])

    def _names(self, least: int = 0) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._some(lambda: self._one([*NAMES, *EVEN_WORSE_NAMES]), least, 2)))

    def _new(self, *stems: str) -> str:
        """A variable; of a node or an edge, one that may have no name."""
        self._variables += 1
        unnamed = UNNAMED if stems and self._perhaps() else ""
        return f"{unnamed}{self._one(stems or ('v', 'count', 'a b '))}{self._variables}"

    def _match(self, scope: list[str], depth: int = 2, *, inner: bool = False) -> tuple[Match, list[str]]:
        nodes = self._some(lambda: NodePattern(self._new(*_NODES), self._groups(), self._perhaps(0.1)), 1, 4)
        bound = [name for name in scope if name.lstrip(UNNAMED).startswith(_NODES)]
        nodes += (NodePattern(self._one(bound), self._groups()),) if bound and self._perhaps() else ()
        ends = [node.variable for node in nodes]
        edges = self._some(lambda: self._edge(ends), 0, 4)
        known = [*scope, *ends, *(edge.variable for edge in edges)]
        paths = tuple([self._path(edge) for edge in edges if not inner and self._perhaps(0.2)])
        where = self._where(known, ends, depth) if self._perhaps(0.6) else None
        optional = not inner and self._perhaps(0.3)
        match = Match(nodes, edges, paths, where, optional, self._perhaps(0.9))
        return match, [*dict.fromkeys([*known, *(path.variable for path in paths)])]

    def _groups(self) -> tuple[tuple[str, ...], ...]:
        return tuple(dict.fromkeys(self._some(lambda: self._names(1), 0, 2)))

    def _edge(self, ends: list[str]) -> EdgePattern:
        name = self._new("r", "edge ")
        path = self._length() if self._perhaps(0.4) else None
        return EdgePattern(name, self._one(ends), self._one(ends), self._names(), self._perhaps(0.3), path)

    def _length(self) -> PathLength:
        kinds = [kind for kind in PathKind if kind is not PathKind.REACHABLE]  # Cypher has no word for it
        shortest = self.random.randint(0, 3)
        return PathLength(self._one(kinds), shortest, None if self._perhaps() else shortest + self.random.randint(0, 3))

    def _path(self, edge: EdgePattern) -> PathPattern:
        return PathPattern(self._new(), (edge.source, edge.variable, edge.target))

    def _where(self, known: list[str], nodes: list[str], depth: int) -> Expression:
        """Often equalities come first, which are written in the pattern."""
        equalities = self._some(lambda: self._equality(nodes), 0, 3)
        parts = (*equalities, *self._some(lambda: self._value(known, depth), 0, 2))
        return Joined(Connective.AND, parts) if len(parts) > 1 else parts[0] if parts else self._value(known, depth)

    def _equality(self, nodes: list[str]) -> Expression:
        return Compare(self._property(nodes), Comparison.EQUAL, self._constant())

    def _constant(self) -> Expression:
        return Constant(self._one(SCALARS))

    def _property(self, scope: list[str]) -> Expression:
        return Property(self._one(scope), self._one([*NAMES, *EVEN_WORSE_NAMES]))

    def _unwind(self, scope: list[str]) -> tuple[Unwind, list[str]]:
        name = self._new()
        return Unwind(self._value(scope, 1), name), [*scope, name]

    def _project(self, scope: list[str], *, last: bool = False) -> tuple[Project, list[str]]:
        kept = list(dict.fromkeys(self._some(lambda: self._one(scope), 0, 2))) if scope else []
        grouped = self._perhaps(0.3)
        columns = [Column(name, Variable(name)) for name in kept]
        for _ in range(self.random.randint(0 if kept else 1, 2)):
            value = self._aggregate(scope) if grouped else self._value(scope, 2)
            columns.append(Column(self._new(), value))
        names = [column.name for column in columns]
        order = self._some(lambda: Order(Variable(self._one(names)), self._perhaps()), 0, 2)
        limit = self.random.randint(0, 9) if self._perhaps(0.3) else None
        where = None if last or self._perhaps(0.6) else self._value(names, 1)
        project = Project(tuple(columns), self._perhaps(0.3), order, self.random.randint(0, 2), limit, where)
        return project, names

    def _aggregate(self, scope: list[str]) -> Expression:
        if self._perhaps(0.3):
            return Aggregate(AggregateFunction.COUNT, None)
        function = self._one(list(AggregateFunction))
        share = self._one([0.0, 0.5, 1.0]) if AGGREGATES[function].takes_share else None
        return Aggregate(function, self._value(scope, 1), self._perhaps(), share)

    def _value(self, scope: list[str], depth: int) -> Expression:
        if depth == 0 or self._perhaps(0.2):
            return self._leaf(scope)
        makers: list[Callable[[], Expression]] = [
            lambda: Compare(self._value(scope, depth - 1), self._one(list(Comparison)), self._value(scope, depth - 1)),
            lambda: ComparisonChain(
                tuple(self._value(scope, depth - 1) for _ in range(3)),
                (Comparison.LESS, self._one([Comparison.AT_MOST])),
            ),
            lambda: Joined(self._one(list(Connective)), self._some(lambda: self._value(scope, depth - 1), 2, 3)),
            lambda: Not(self._value(scope, depth - 1)),
            lambda: IsNull(self._value(scope, depth - 1)),
            lambda: Arithmetic(
                self._value(scope, depth - 1), self._one(list(ArithmeticOperator)), self._value(scope, depth - 1)
            ),
            lambda: ListOf(self._some(lambda: self._value(scope, depth - 1), 0, 2)),
            lambda: self._call(scope, depth - 1),
            lambda: Case(((self._value(scope, depth - 1), self._value(scope, 0)),), self._value(scope, 0)),
            lambda: Element(self._value(scope, 0), self._one([Constant(1), Constant(2)])),
            lambda: Slice(self._value(scope, 0), self._one([None, Constant(1)]), self._one([None, Constant(2)])),
            lambda: self._over_members(scope, depth - 1),
            lambda: Call(Function.COALESCE, self._some(lambda: self._value(scope, depth - 1), 1, 3)),
            lambda: self._one([Exists, CountOf])(self._match(scope, depth - 1, inner=True)[0]),
        ]
        return self._one(makers)()

    def _call(self, scope: list[str], depth: int) -> Expression:
        function = self._one([one for one in Function if one is not Function.COALESCE])
        return Call(function, tuple(self._value(scope, depth) for _ in FUNCTIONS[function].takes))

    def _over_members(self, scope: list[str], depth: int) -> Expression:
        self._members += 1
        name, so_far, of = f"member{self._members}", f"result{self._members}", self._value(scope, 0)
        inner = [*scope, name]
        where, made = self._value(inner, depth), self._value(inner, 0)
        return self._one(
            [
                Comprehension(name, of, self._one([None, where]), made),
                Comprehension(name, of, where),
                Quantified(self._one(list(Quantifier)), name, of, where),
                Reduction(so_far, self._constant(), name, of, self._value([*inner, so_far], 0)),
            ]
        )

    def _leaf(self, scope: list[str]) -> Expression:
        if not scope or self._perhaps(0.3):
            return self._constant()
        makers: list[Callable[[], Expression]] = [
            lambda: Variable(self._one(scope)),
            lambda: self._property(scope),
            lambda: HasLabel(self._one(scope), self._names(1)),
            lambda: During(self._one(scope), self._one(DATES), self._one(DATES)),
        ]
        return self._one(makers)()


def _leaves(part: object) -> list[object]:
    if isinstance(part, tuple):
        members = cast("tuple[object, ...]", part)
        return [len(members), *(leaf for each in members for leaf in _leaves(each))]
    if is_dataclass(part):
        return [type(part), *(leaf for field in fields(part) for leaf in _leaves(getattr(part, field.name)))]
    return [part if isinstance(part, str) else (type(part), part)]


def same_but_for_unnamed(plan: Plan, other: Plan) -> bool:
    """Whether two plans are equal, or would be with other names for what its writer gave none."""
    left, right = _leaves(plan), _leaves(other)
    names: dict[object, object] = {}
    for one, two in zip(left, right, strict=False):
        unnamed = isinstance(one, str) and not is_named(one)
        if (names.setdefault(one, two) if unnamed else one) != two:
            return False
    return len(left) == len(right) and len(set(names.values())) == len(names)
