"""Values and conditions by chance."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from kgnav_mcp.plan import (
    NAME,
    Arithmetic,
    ArithmeticOperator,
    Call,
    Case,
    Compare,
    Comparison,
    ComparisonChain,
    Comprehension,
    Connective,
    Constant,
    CountOf,
    During,
    Element,
    Exists,
    Expression,
    Function,
    HasLabel,
    IsNull,
    Joined,
    ListOf,
    Not,
    Property,
    Quantified,
    Quantifier,
    Reduction,
    Slice,
    Variable,
)
from kgnav_mcp.values.functions import FUNCTIONS, Kind
from tests.contract import toy
from tests.plans.graph import Date
from tests.plans.strategies.patterns import EDGE, LIST, NODE, PATH, VALUE, PatternMaker, chance

_OF_NODES = tuple(one for one, entry in FUNCTIONS.items() if entry.takes[0] in {Kind.NODE, Kind.NODE_OR_EDGE})
_OF_EDGES = tuple(
    one
    for one, entry in FUNCTIONS.items()
    if entry.takes[0] in {Kind.EDGE, Kind.NODE_OR_EDGE} and one is not Function.ID
)
_OF_PATHS = tuple(one for one, entry in FUNCTIONS.items() if entry.takes[0] is Kind.PATH)
_OF_LISTS = tuple(one for one, entry in FUNCTIONS.items() if entry.takes[0] in {Kind.TEXT_OR_LIST, Kind.LIST_OR_SINGLE})
_OF_VALUES = tuple(one for one, entry in FUNCTIONS.items() if entry.compute is not None)
_ARGUMENTS = {Kind.TEXT: ("", "e", "Tw", " "), Kind.INTEGER: (0, 1, 2, 5, -1)}
"""Arguments behind the first."""
_ORDERED = (Comparison.EQUAL, Comparison.UNEQUAL, Comparison.LESS, Comparison.AT_MOST, Comparison.GREATER)
_TEXTUAL = (Comparison.CONTAINS, Comparison.STARTS_WITH, Comparison.ENDS_WITH)
_EXPRESSIONS = (".*", "[a-z]+", "T.*", "(?s).*e.*")
_OPERATORS = (
    ArithmeticOperator.ADD,
    ArithmeticOperator.SUBTRACT,
    ArithmeticOperator.DIVIDE,
    ArithmeticOperator.MULTIPLY,
)
_RARE_OPERATORS = (ArithmeticOperator.REMAINDER, ArithmeticOperator.POWER)


class ExpressionMaker(PatternMaker):
    """Makes expressions over what the rows have."""

    def constant(self, like: str | None = None) -> Constant:
        """A value that a property has, or another one."""
        values = self.words.properties.get(like or "", [])
        if values and chance(self.draw, 80):
            value = self.draw(st.sampled_from(values))
            if isinstance(value, Date):
                return Constant(self.draw(st.sampled_from((str(value), value[:4], value[:7]))))
            return Constant(value)
        others = (None, True, False, 0, 1, 2, -1, 0.5, 36, 1832, "x", "", "1815", *toy.HOSTILE_TEXTS[:6])
        return Constant(self.draw(st.sampled_from(others)))

    def property(self) -> Property | None:
        """A property of a node or an edge that is there."""
        owner = self.pick(NODE, EDGE)
        if owner is None:
            return None
        if self.scope[owner] == NODE and chance(self.draw, 15):
            return Property(owner, NAME)
        own = self.words.of_nodes if self.scope[owner] == NODE else self.words.of_edges
        names = sorted(own if own and chance(self.draw, 90) else self.words.properties)
        if not names:
            return None
        chosen = self.draw(st.lists(st.sampled_from(names), min_size=1, max_size=2 if chance(self.draw, 10) else 1))
        return Property(owner, chosen[0], tuple(dict.fromkeys(chosen)))

    def value(self, depth: int) -> Expression:
        """Something that has a value."""
        makers: list[Callable[[], Expression]] = [self.property_or_constant] * 5 + [self.constant, self.variable]
        if depth:
            makers += [lambda: self.call(depth - 1)] * 2
            makers += [lambda: self.arithmetic(depth - 1), lambda: self.condition(depth - 1)]
            makers += [self.list_of, self.coalesced, lambda: CountOf(self.inner())]
            makers += [lambda: self.case(depth - 1), self.part, self.over_members, self.over_members]
        return self.draw(st.sampled_from(makers))()

    def property_or_constant(self) -> Expression:
        return self.property() or self.constant()

    def variable(self) -> Expression:
        name = self.pick(VALUE, LIST, NODE, EDGE, PATH)
        return Variable(name) if name else self.constant()

    def arithmetic(self, depth: int) -> Expression:
        operator = self.draw(st.sampled_from(_RARE_OPERATORS if chance(self.draw, 15) else _OPERATORS))
        return Arithmetic(self.value(depth), operator, Constant(self.draw(st.sampled_from((0, 1, 2, 3, -2, 0.5, "x")))))

    def list_of(self) -> Expression:
        return ListOf((self.value(0), self.value(0))[: self.draw(st.integers(0, 2))])

    def coalesced(self) -> Expression:
        return Call(Function.COALESCE, (self.value(0), self.value(0)))

    def call(self, depth: int) -> Call:
        of = {NODE: _OF_NODES, EDGE: _OF_EDGES, PATH: _OF_PATHS, LIST: _OF_LISTS}
        name = self.pick(*of)
        if name is not None and chance(self.draw, 50):
            return Call(self.draw(st.sampled_from(of[self.scope[name]])), (Variable(name),))
        function = self.draw(st.sampled_from(sorted(_OF_VALUES)))
        entry = FUNCTIONS[function]
        number = self.draw(st.integers(len(entry.takes) - entry.optional, len(entry.takes)))
        first = Constant(self.draw(st.integers(-3, 3))) if entry.takes[0] is Kind.INTEGER else self.value(depth)
        others = (Constant(self.draw(st.sampled_from(_ARGUMENTS[kind]))) for kind in entry.takes[1:number])
        return Call(function, (first, *others))

    def case(self, depth: int) -> Expression:
        branches = tuple((self.condition(depth), self.value(0)) for _ in range(self.draw(st.integers(1, 2))))
        return Case(branches, self.value(0) if chance(self.draw, 50) else Constant(None))

    def members(self) -> Expression:
        """A list, or what may be one."""
        name = self.pick(LIST)
        if name is not None and chance(self.draw, 70):
            return Variable(name)
        path = self.pick(PATH)
        if path is not None and chance(self.draw, 50):
            return Call(self.draw(st.sampled_from((Function.NODES, Function.EDGES))), (Variable(path),))
        return ListOf(tuple(self.value(0) for _ in range(self.draw(st.integers(0, 3)))))

    def part(self) -> Expression:
        places = st.sampled_from((Constant(0), Constant(1), Constant(-1), Constant(-2), Constant(7), Constant(None)))
        if chance(self.draw, 50):
            return Element(self.members(), self.draw(places))
        bounds = (self.draw(places) if chance(self.draw, 70) else None for _ in range(2))
        return Slice(self.members(), *bounds)

    def over_members(self) -> Expression:
        """Something that is said of each member of a list."""
        of, name, total = self.members(), self.new("m"), self.new("t")
        member, so_far = Variable(name), Variable(total)
        test = Compare(member, self.draw(st.sampled_from(_ORDERED)), self.value(0))
        named = Not(IsNull(Call(Function.SIZE, (Call(Function.TEXT, (member,)),))))
        where = self.draw(st.sampled_from((test, named, Joined(Connective.OR, (test, named)))))
        values = (member, Call(Function.TEXT, (member,)), Arithmetic(Constant("x"), ArithmeticOperator.ADD, member))
        made = self.draw(st.sampled_from(values))
        step = Arithmetic(so_far, ArithmeticOperator.ADD, made)
        return self.draw(
            st.sampled_from(
                (
                    Comprehension(name, of, where, made),
                    Comprehension(name, of, None, made),
                    Comprehension(name, of, where),
                    Quantified(self.draw(st.sampled_from(Quantifier)), name, of, where),
                    Reduction(total, self.draw(st.sampled_from((Constant(0), ListOf(())))), name, of, step),
                )
            )
        )

    def condition(self, depth: int) -> Expression:
        """Something that is true or not."""
        makers: list[Callable[[], Expression]] = [self.comparison] * 6
        makers += [lambda: IsNull(self.value(0)), self.label, self.range, self.membership, self.textual, self.same]
        if depth:
            makers += [lambda: self.joined(depth - 1)] * 2
            makers += [lambda: Not(self.condition(depth - 1)), self.values]
            makers += [self.during, lambda: Exists(self.inner())] * 3
        return self.draw(st.sampled_from(makers))()

    def textual(self) -> Expression:
        if chance(self.draw, 20):
            return Compare(self.value(0), Comparison.MATCHES, Constant(self.draw(st.sampled_from(_EXPRESSIONS))))
        part = Constant(self.draw(st.sampled_from(("1", "e", "Tw", "x", "", toy.HOSTILE_TEXTS[5]))))
        return Compare(self.value(0), self.draw(st.sampled_from(_TEXTUAL)), part)

    def same(self) -> Expression:
        """Whether two variables stand for one node or edge."""
        left, right = self.pick(NODE, EDGE), self.pick(NODE, EDGE)
        if left is None or right is None:
            return self.comparison()
        return Compare(Variable(left), self.draw(st.sampled_from(_ORDERED[:2])), Variable(right))

    def joined(self, depth: int) -> Expression:
        connective = self.draw(st.sampled_from(Connective))
        return Joined(connective, (self.condition(depth), self.condition(depth)))

    def values(self) -> Expression:
        return Compare(self.value(1), self.draw(st.sampled_from(_ORDERED)), self.value(1))

    def comparison(self) -> Expression:
        owned = self.property()
        if owned is None:
            return Compare(self.value(0), self.draw(st.sampled_from(_ORDERED)), self.constant())
        other = (self.property() if chance(self.draw, 15) else None) or self.constant(owned.name)
        sides = (other, owned) if chance(self.draw, 15) else (owned, other)
        return Compare(sides[0], self.draw(st.sampled_from((*_ORDERED, Comparison.AT_LEAST))), sides[1])

    def range(self) -> Expression:
        """A chain of comparisons."""
        owned = self.property()
        if owned is None:
            return self.comparison()
        last = (self.property() if chance(self.draw, 15) else None) or self.constant(owned.name)
        signs = st.sampled_from((Comparison.LESS, Comparison.AT_MOST, Comparison.GREATER, Comparison.AT_LEAST))
        return ComparisonChain((self.constant(owned.name), owned, last), (self.draw(signs), self.draw(signs)))

    def membership(self) -> Expression:
        owned = self.property()
        if owned is None:
            return Compare(self.constant(), Comparison.IN, ListOf((self.constant(), self.constant())))
        if chance(self.draw, 25):
            return Compare(self.constant(owned.name), Comparison.IN, owned)
        members = tuple(self.constant(owned.name) for _ in range(self.draw(st.integers(0, 3))))
        return Compare(owned, Comparison.IN, ListOf(members))

    def label(self) -> Expression:
        name = self.pick(NODE, EDGE)
        if name is None:
            return self.comparison()
        of = self.words.labels if self.scope[name] == NODE else self.words.relations
        return (
            HasLabel(name, tuple(self.draw(st.lists(st.sampled_from(of), min_size=1, max_size=2))))
            if of
            else self.comparison()
        )

    def during(self) -> Expression:
        edge = self.pick(EDGE)
        if edge is None:
            return self.comparison()
        times = st.sampled_from((None, "1832", "1830-05", "1833-01-01"))
        names = [[name] if name in self.words.of_edges else [] for name in ("since", "until")]
        return During(edge, self.draw(times), self.draw(times), tuple(names[0]), tuple(names[1]))
