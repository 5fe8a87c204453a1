"""What a row is asked: values, conditions and sums over the variables of a plan.

A missing value is null. As in Cypher, a comparison with null is null, a condition holds only where it is true, and
`NOT` of null is null. So a missing property fails each comparison, `<>` too. What Cypher ends with an error while it
runs is null here: text times a number, a division by nought, the year of what is no date.

A property may have several values (RDF has no other). A comparison of a `Property` holds where it holds for one of
them; with a list, and anywhere else, several values are a list, in the order of numbers, then of text, and one value is
itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kgnav_mcp.plan.clauses import Match

Scalar = str | int | float | bool | None

NAME = "name"
"""The property by which an entity is called: any name or alias, where the graph has no property that is called so."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that the plan states."""

    value: Scalar


@dataclass(frozen=True, slots=True)
class Variable:
    """What a row has under this name: a node, an edge, a path, a list, a value, or null."""

    name: str


@dataclass(frozen=True, slots=True)
class Property:
    """The values of a property of a node, or of an edge: one of its qualifiers.

    `ids` are the relations meant, once the plan was checked. NAME without any is what a node is called: its label.
    A value may be a node (of a qualifier, or of a relation that leads to nodes); it is equal to a text that is its id
    or its label.
    """

    owner: str
    """The variable."""
    name: str
    ids: tuple[str, ...] = ()


class Comparison(StrEnum):
    """How two values are compared: numbers as numbers, text as text by code points, no before yes.

    A date of the graph and a text that is written as one compare by the precision that both have: a day is equal to
    its year. Values of different kinds are not equal, and null by the other comparisons; so is what is no text by
    CONTAINS and its like. `IN` is null where it is not true and the list has a null. Lists compare member by member.
    Nodes and edges are only equal or not.
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
    """The whole text fits a regular expression."""
    IN = "IN"
    """The left value is a member of the right list; of a property with one value: equal to it."""


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison of two values; null where one of them is."""

    left: Expression
    comparison: Comparison
    right: Expression


class Connective(StrEnum):
    """How conditions are joined."""

    AND = "AND"
    OR = "OR"
    XOR = "XOR"


@dataclass(frozen=True, slots=True)
class Joined:
    """Two or more conditions in one."""

    connective: Connective
    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of a condition."""

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
    """What numbers are joined by; `+` joins text and lists as well."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    """Of two whole numbers, the whole part."""
    REMAINDER = "%"
    POWER = "^"


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Two values joined by an operator; null where one of them is. Beside a text, `+` takes a number as text."""

    left: Expression
    operator: ArithmeticOperator
    right: Expression


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of values."""

    items: tuple[Expression, ...]


class Function(StrEnum):
    """What is read off one or more values. The first ones take a variable."""

    ID = "elementId"
    """Of a node: its id as printed. Of an edge: an id that tells it from its parallels, in the words of the store."""
    LABELS = "labels"
    """Of a node: a list, in the order of text."""
    TYPE = "type"
    """Of an edge: the id of its relation, or in Neo4j its type."""
    PROPERTIES = "properties"
    """Of a node or an edge: a list of lists, each the id of a property and its value or values, by these ids."""
    START = "startNode"
    END = "endNode"
    LENGTH = "length"
    """Of a path: its edges."""
    NODES = "nodes"
    EDGES = "relationships"
    COALESCE = "coalesce"
    """The first value that is not null."""
    SIZE = "size"
    LOWER = "toLower"
    UPPER = "toUpper"
    TEXT = "toString"
    NUMBER = "toFloat"
    WHOLE = "toInteger"
    ABS = "abs"
    ROUND = "round"
    """To the nearest whole number, halves up; like those of `floor` and `ceil` the result is no integer."""
    FLOOR = "floor"
    CEILING = "ceil"
    YEAR = "year"
    """Of a date: its year, a whole number."""
    FIRST = "head"
    LAST = "last"


@dataclass(frozen=True, slots=True)
class Call:
    """A function of values."""

    function: Function
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class During:
    """Whether an edge held in all or in part of a time: `begin` and `end` are dates, None where the time is open.

    An edge without a from (to) property that is a date has held since ever (holds still). Both ends belong to the time,
    and dates compare by the precision that both have: what ended in 1850 held in part of 1850-05.
    """

    edge: str
    begin: str | None
    end: str | None
    from_ids: tuple[str, ...] = ()
    """The qualifiers that say since when an edge holds, once the plan was checked."""
    to_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Exists:
    """Whether a pattern fits around the row's own variables: Cypher's `EXISTS { }`."""

    match: Match


@dataclass(frozen=True, slots=True)
class CountOf:
    """How many times a pattern fits around the row's own variables: Cypher's `COUNT { }`."""

    match: Match


class AggregateFunction(StrEnum):
    """What is made of the values of many rows; nulls are left out, by SUM and AVERAGE all that are no numbers.

    Of no value COUNT and SUM are 0, COLLECT is an empty list, the others are null.
    """

    COUNT = "count"
    SUM = "sum"
    AVERAGE = "avg"
    MINIMUM = "min"
    """The first in the order of values that `Project` has."""
    MAXIMUM = "max"
    """The last in it."""
    COLLECT = "collect"
    """A list in the order of the values, as rows have it; in that of the rows where the clause before sorts them."""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A value of all rows that share what is projected beside it. `of` None: the rows themselves, `count(*)`."""

    function: AggregateFunction
    of: Expression | None
    distinct: bool = False


Expression = (
    Constant
    | Variable
    | Property
    | Compare
    | Joined
    | Not
    | IsNull
    | HasLabel
    | Arithmetic
    | ListOf
    | Call
    | During
    | Exists
    | CountOf
    | Aggregate
)
