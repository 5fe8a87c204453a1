"""Expressions of a plan: values, conditions and aggregates over its variables.

A missing value is null. As in Cypher, a comparison with null is null, a row meets a condition only if it is true, and
`NOT` of null is null. So a missing property fails every comparison, also `<>`. Where Cypher raises an error at run
time, the value is null here: text times a number, a division of integers by zero, the year of a text that is no date.
Integers that a plan calculates have 64 bits, and a larger result is an error. Larger integers of the graph stay exact.

A property may have several values, as any property in RDF or an array of a property graph. For each row it is decided
whether they are a list: several values are one, numbers first, then texts; so are the items of a declared array, in
their order, also a single one. Any other single value is itself. Lists are used as in Cypher, with one extension for
the lists that are values of a property, or that a function of one value makes of them:

- Compared with a single value, such a list stands for each of its values: the comparison is true if it is true for one
  of them. So `<>` and `NOT` are true if it is false for all of them; a missing property is null.
- A `ComparisonChain` is true if it is true for one value: `3 <= n.v <= 5` is false for the values 1 and 9, but
  `3 <= n.v AND n.v <= 5` is true.
- A function of a single value, such as `toLower`, is applied to each of the values; one of a list to the list.
- An aggregate takes each of the values.
- Arithmetic (except `+`, which joins lists) and an order need a single value: a list is an error. So is `size` of a
  value that is such a list in some rows and a text in others.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kgnav_mcp.plan.clauses import Match

Scalar = str | int | float | bool | None

NAME = "name"
"""The property that means an entity's name: any name or alias, unless the graph has a property called `name`."""

HINT = "@hint"
"""The property that stands for what `find_node` searches: names and aliases, misspelt or not, descriptions, ids.

Only its equality with a text has a meaning: the node is the best candidate for that text. A check replaces it.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """A constant value in the plan. Two are equal only if their types are: `2` and `2.0` divide differently."""

    value: Scalar

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and (type(self.value), self.value) == (type(other.value), other.value)

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@dataclass(frozen=True, slots=True)
class Variable:
    """The value of a variable of the row: a node, an edge, a path, a list, a single value, or null."""

    name: str


@dataclass(frozen=True, slots=True)
class Property:
    """The values of a property of a node, or of an edge: one of its qualifiers.

    In a checked plan `ids` are the relations that the name means. NAME without ids is the node's label. A value may be
    a node (of a qualifier, or of a relation that leads to nodes); it equals a text that is its id or its label.
    """

    owner: str
    """The variable of the node or edge."""
    name: str
    ids: tuple[str, ...] = ()


class Comparison(StrEnum):
    """How two values are compared: numbers as numbers, text by code points, false before true.

    A date of the graph and a text that is written as a date are compared by the precision that both have: a day equals
    its year. Values of different kinds are not equal, and other comparisons of them are null; CONTAINS and the like are
    null for values that are not text. `IN` is null if it is not true and the list has a null. Lists are compared member
    by member. Nodes and edges can only be equal or not.
    """

    EQUAL = "="
    UNEQUAL = "<>"
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="
    CONTAINS = "CONTAINS"
    STARTS_WITH = "STARTS WITH"
    ENDS_WITH = "ENDS WITH"
    MATCHES = "=~"
    """The whole text matches a regular expression."""
    IN = "IN"
    """The left value is equal to a member of the list on the right; to the value on the right if that is no list."""


MIRRORED = {
    Comparison.EQUAL: Comparison.EQUAL,
    Comparison.UNEQUAL: Comparison.UNEQUAL,
    Comparison.LESS: Comparison.GREATER,
    Comparison.AT_MOST: Comparison.AT_LEAST,
    Comparison.GREATER: Comparison.LESS,
    Comparison.AT_LEAST: Comparison.AT_MOST,
}
"""Each comparison that has an equivalent when the two sides are swapped, and that one."""


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison of two values; null if one of them is."""

    left: Expression
    comparison: Comparison
    right: Expression


@dataclass(frozen=True, slots=True)
class ComparisonChain:
    """Several comparisons in a row, such as `3 <= n.v < 5`, each of two adjacent values, in Cypher joined by AND.

    If a value is a property with several values, one of them must satisfy the comparisons on both of its sides.
    """

    values: tuple[Expression, ...]
    comparisons: tuple[Comparison, ...]
    """One less than values: LESS, AT_MOST, GREATER, AT_LEAST."""

    @property
    def links(self) -> tuple[Compare, ...]:
        """The comparisons of adjacent values."""
        return tuple(map(Compare, self.values, self.comparisons, self.values[1:]))


class Connective(StrEnum):
    """How conditions are joined."""

    AND = "AND"
    OR = "OR"
    XOR = "XOR"


@dataclass(frozen=True, slots=True)
class Joined:
    """Two or more conditions joined by a connective."""

    connective: Connective
    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The negation of a condition."""

    condition: Expression


@dataclass(frozen=True, slots=True)
class IsNull:
    """Whether a value is missing."""

    value: Expression


@dataclass(frozen=True, slots=True)
class HasLabel:
    """Whether a node has one of these labels (classes), or an edge one of these types."""

    variable: str
    labels: tuple[str, ...]


class ArithmeticOperator(StrEnum):
    """An arithmetic operator; `+` also joins texts and lists."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    """For two integers, the integer part of the quotient."""
    REMAINDER = "%"
    POWER = "^"


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """An arithmetic operation; null if one of the values is. With a text, `+` converts a number to text."""

    left: Expression
    operator: ArithmeticOperator
    right: Expression


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of values."""

    items: tuple[Expression, ...]


class Function(StrEnum):
    """A function of values. `kgnav_mcp.values.functions` has the arguments, result and meaning of each."""

    ID = "elementId"
    LABELS = "labels"
    TYPE = "type"
    PROPERTIES = "properties"
    KEYS = "keys"
    START = "startNode"
    END = "endNode"
    LENGTH = "length"
    NODES = "nodes"
    EDGES = "relationships"
    COALESCE = "coalesce"
    SIZE = "size"
    HEAD = "head"
    LAST = "last"
    TAIL = "tail"
    REVERSE = "reverse"
    IS_EMPTY = "isEmpty"
    RANGE = "range"
    LOWER = "toLower"
    UPPER = "toUpper"
    LEFT = "left"
    RIGHT = "right"
    SUBSTRING = "substring"
    TRIM = "trim"
    PAD_LEFT = "lpad"
    PAD_RIGHT = "rpad"
    TRIM_LEFT = "ltrim"
    TRIM_RIGHT = "rtrim"
    REPLACE = "replace"
    SPLIT = "split"
    TEXT = "toString"
    NUMBER = "toFloat"
    TO_INTEGER = "toInteger"
    BOOLEAN = "toBoolean"
    ABS = "abs"
    SIGN = "sign"
    IS_NAN = "isNaN"
    ROUND = "round"
    FLOOR = "floor"
    CEILING = "ceil"
    ROOT = "sqrt"
    EXPONENTIAL = "exp"
    LOGARITHM = "log"
    LOGARITHM_10 = "log10"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class Call:
    """A function call."""

    function: Function
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """The value of the first branch whose condition is true: Cypher's `CASE WHEN ... THEN ... ELSE ... END`."""

    branches: tuple[tuple[Expression, Expression], ...]
    """Conditions, each with its value."""
    otherwise: Expression = Constant(None)


@dataclass(frozen=True, slots=True)
class Element:
    """A member of a list by its index, from 0; a negative one counts from the end. Null if there is none."""

    of: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of a list, from an index up to another one, which is not included; None: from or to the end."""

    of: Expression
    first: Expression | None
    end: Expression | None


@dataclass(frozen=True, slots=True)
class Comprehension:
    """A list made of another one: `[x IN list WHERE condition | value]`.

    `variable` stands for a member of the list, in the condition and the value only: no other variable of the plan that
    can be seen there has its name.
    """

    variable: str
    of: Expression
    where: Expression | None = None
    value: Expression | None = None
    """None: the member itself."""


class Quantifier(StrEnum):
    """The number of members of a list that must meet a condition."""

    ALL = "all"
    ANY = "any"
    NONE = "none"
    SINGLE = "single"


@dataclass(frozen=True, slots=True)
class Quantified:
    """A condition on the members of a list: `any(x IN list WHERE condition)`; `variable` as in Comprehension."""

    quantifier: Quantifier
    variable: str
    of: Expression
    where: Expression


@dataclass(frozen=True, slots=True)
class Reduction:
    """A value computed from each member of a list in turn: `reduce(total = 0, x IN list | total + x)`.

    `accumulator` is the value so far, `variable` the member; both are local to the expression, as in Comprehension.
    """

    accumulator: str
    initial: Expression
    variable: str
    of: Expression
    value: Expression


@dataclass(frozen=True, slots=True)
class During:
    """Whether an edge was valid at some time from `begin` to `end`. These are dates; None means an open end.

    An edge without a date in its from (to) property is valid from the beginning (until now). Both ends are included,
    and dates are compared by the precision that both have: an edge that ended in 1850 was valid in 1850-05.
    """

    edge: str
    begin: str | None
    end: str | None
    from_ids: tuple[str, ...] = ()
    """In a checked plan, the ids of the edge's properties with the start of its validity."""
    to_ids: tuple[str, ...] = ()
    """In a checked plan, the ids of the edge's properties with the end of its validity."""


@dataclass(frozen=True, slots=True)
class Exists:
    """Whether a pattern has a match with the row's variables: Cypher's `EXISTS { }`."""

    match: Match


@dataclass(frozen=True, slots=True)
class CountOf:
    """The number of matches of a pattern with the row's variables: Cypher's `COUNT { }`."""

    match: Match


class AggregateFunction(StrEnum):
    """An aggregate function. Nulls are ignored; SUM and AVERAGE ignore all values that are not numbers.

    Each of several values of a property counts as a value.

    Without values, COUNT and SUM are 0, COLLECT is an empty list, the others are null. `kgnav_mcp.values.functions` has
    the meaning of each.
    """

    COUNT = "count"
    SUM = "sum"
    AVERAGE = "avg"
    MINIMUM = "min"
    MAXIMUM = "max"
    COLLECT = "collect"
    DEVIATION = "stDev"
    DEVIATION_OF_ALL = "stDevP"
    PERCENTILE = "percentileCont"
    PERCENTILE_OF_VALUES = "percentileDisc"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate over all rows with equal values in the other columns. `of` None: over the rows, as in `count(*)`."""

    function: AggregateFunction
    of: Expression | None
    distinct: bool = False
    share: float | None = None
    """Of PERCENTILE and PERCENTILE_OF_VALUES: the percentile, from 0 to 1."""


Expression = (
    Constant
    | Variable
    | Property
    | Compare
    | ComparisonChain
    | Joined
    | Not
    | IsNull
    | HasLabel
    | Arithmetic
    | ListOf
    | Call
    | Case
    | Element
    | Slice
    | Comprehension
    | Quantified
    | Reduction
    | During
    | Exists
    | CountOf
    | Aggregate
)
