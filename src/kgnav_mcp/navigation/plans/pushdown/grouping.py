"""Groups by values: the store groups the matches of a pattern, and the projection is computed over these groups.

A group is a combination of the values that the plan uses: properties of nodes, and types of edges. So there are as many
rows as such combinations, however many matches or nodes there are. If these are too many, each aggregate is read by a
query of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from itertools import product

from kgnav_mcp.errors import InvalidStore, StoreTimeout, Unsupported
from kgnav_mcp.model import Stop
from kgnav_mcp.navigation.plans.evaluate.equality_joins import is_join
from kgnav_mcp.navigation.plans.evaluate.patterns import MULTIPLICITY
from kgnav_mcp.navigation.plans.evaluate.projections import projected
from kgnav_mcp.navigation.plans.evaluate.start_nodes import start_of
from kgnav_mcp.navigation.plans.evaluate.values import Node, PropertyList, Row, Table, identity
from kgnav_mcp.navigation.plans.pushdown.pushable import Conditions, pushed_to_every_store, with_edge_conditions
from kgnav_mcp.navigation.plans.pushdown.store_matching import StoreMatcher
from kgnav_mcp.plan import (
    Aggregate,
    AggregateFunction,
    Call,
    Column,
    Constant,
    Expression,
    Function,
    Match,
    Pipeline,
    Plan,
    Project,
    Property,
    Variable,
)
from kgnav_mcp.plan.walking import aggregates, conjuncts, node_patterns, parts, rewritten, variables_of
from kgnav_mcp.port.pattern_conditions import is_connected
from kgnav_mcp.port.pattern_queries import GroupKey, is_measure

_ROWS = Aggregate(AggregateFunction.COUNT, None)
_GROUPS = 10_000
"""Groups up to which all aggregates of a plan are computed from one query, if there are others for each aggregate."""
Change = Callable[[object], Expression | None]


@dataclass(frozen=True, slots=True)
class _Keys:
    """The values that expressions over a pattern use, each with a column."""

    match: Match
    columns: dict[GroupKey, str]
    with_lists: bool = False
    """Whether a column may be a list."""
    shortened: bool = False
    """Whether a column may be the first characters of texts: the store refuses it if there are other values."""

    def over_groups(self, part: object) -> Expression | None:
        """The column or constant in place of a value."""
        edges = {edge.variable: edge for edge in self.match.edges if edge.path is None}
        match part:
            case Property(owner, _, (_,)) if owner in edges or owner in node_patterns(self.match):
                return self._column(part)
            case Call(Function.LEFT, (Property(owner, _, (_,)), Constant())) if self.shortened:
                return self._column(part)
            case Call(Function.TYPE, (Variable(name),)) if name in edges:
                relations = edges[name].relations
                return Constant(relations[0]) if len(relations) == 1 else self._column(part)
            case Call(Function.LABELS, (Variable(name),)) if self.with_lists and name in node_patterns(self.match):
                return self._column(part)
            case _:
                return None

    def cover(self, *expressions: Expression | Project) -> bool:
        """Whether expressions use nothing else of the pattern."""
        own = variables_of(self.match)
        return all(own.isdisjoint(variables_of(rewritten(one, self.over_groups))) for one in expressions)

    def lists(self, *expressions: Expression | Project) -> frozenset[str]:
        """The columns that may be lists: labels, and properties that are whole columns of the answer only.

        Elsewhere a list of several values means each of them, which a note says with the name of the property.
        """
        used = [one for expression in expressions for one in parts(expression)]
        whole = [one.value for one in used if isinstance(one, Column)]
        return frozenset(
            name
            for key, name in self.columns.items()
            if self.with_lists and (isinstance(key, Call) or used.count(Variable(name)) == whole.count(Variable(name)))
        )

    def _column(self, key: GroupKey) -> Variable:
        return Variable(self.columns.setdefault(key, f"\0key{len(self.columns)}"))


async def group_in_store(
    store: StoreMatcher, match: Match, project: Project, *, lists: bool = False, shortened: bool = False
) -> tuple[Table, Project] | None:
    """The groups of a pattern's matches, and the projection over them. `lists`: labels and lists of values are keys.

    `shortened`: `left` of a property is a key; the store refuses it if some values are no texts.
    None if the plan uses more than values and numbers, if there are no groups, or if the store cannot group so.

    Raises:
        StoreTimeout: there is no time left to match the pattern in another way.
    """
    if match.optional or not makes_groups(project):
        return None
    nodes = frozenset(node_patterns(match))
    ways = (
        with_edge_conditions(match, pushed_to_every_store(match, nodes, texts=texts), unequal=unequal)
        for texts, unequal in product((True, False), repeat=2)
    )
    for pushed in dict.fromkeys(ways):
        with suppress(Unsupported):
            return await _grouped(store, project, _Keys(match, {}, lists, shortened), pushed)
    return None


async def _grouped(
    store: StoreMatcher, project: Project, keys: _Keys, pushed: Conditions
) -> tuple[Table, Project] | None:
    """As `group_in_store`: the store applies the conditions `pushed`, and groups also by the values in the others.

    Raises:
        Unsupported: the store does not take these conditions, or these groups.
    """
    match, lists = keys.match, keys.with_lists
    conditions = tuple(one for one in conjuncts(match.where) if one not in pushed)
    if _joins_sets(match, conditions):
        return None
    over_groups, left = rewritten(project, keys.over_groups), [rewritten(one, keys.over_groups) for one in conditions]
    only_numbers = {*_aggregates(project)} <= {_ROWS}  # which the query for all groups has, too
    separate = None if conditions or only_numbers else _separate(match, project, lists=lists)
    whole = bool(keys.columns) and keys.cover(project, *conditions)
    if (not whole and separate is None) or (separate is not None and separate.is_single_count):
        return None
    try:
        pattern = await store.pattern(match, pushed, conditions, ())
        table = None
        if whole:
            most = store.bound if separate is None else min(store.bound, _GROUPS)
            with suppress(Unsupported) if separate is not None else nullcontext():
                table = await _weighted(store, pattern, keys, keys.lists(over_groups, *left), most)
        if table is None and separate is not None:
            table, over_groups = await _joined(store, pattern, separate), separate.project
    except (StoreTimeout, InvalidStore) as error:
        store.raise_if_final(error)
        return None
    if table is None or not table.rows:
        return None
    kept = await store.expressions.rows_where(table, left)
    return (kept, over_groups) if kept.rows else None


def _joins_sets(match: Match, conditions: Sequence[Expression]) -> bool:
    """Whether an equality joins whole sets: the store would make their product, which such a join does not."""
    if is_connected(match, ()) or not any(map(is_join, conditions)):
        return False
    owned = [(variables_of(each), each) for each in conjuncts(match.where)]
    return not any(
        start_of(node, [each for of, each in owned if of == frozenset((name,))]).selective
        for name, node in node_patterns(match).items()
    )


async def _weighted(
    store: StoreMatcher, pattern: Match, keys: _Keys, lists: Collection[str], most: int, *numbers: Column
) -> Table | None:
    """A row for each group: its values, and `numbers` or the number of matches.

    None if there are more than `most`, or if a value is a list in another column than `lists`.
    """
    names = tuple(keys.columns.values())
    columns = (*(Column(name, key) for key, name in keys.columns.items()), *(numbers or (Column(MULTIPLICITY, _ROWS),)))
    plan = Plan(
        (Pipeline((replace(pattern, paths=()), Project(columns))),), in_any_order=True, list_keys=keys.with_lists
    )
    page = await store.run(plan, limit=most + 1)
    if page.stop is not Stop.COMPLETE:
        return None
    rows = await store.rows(page)
    await store.reader.describe(value for row in rows for value in row if isinstance(value, Node))
    single = [place for place, name in enumerate(names) if name not in lists]
    if any(isinstance(row[place], tuple) for row in rows for place in single):
        return None
    several = [name in lists and isinstance(key, Property) for key, name in keys.columns.items()]
    return Table(tuple(column.name for column in columns), [_with_lists(row, several) for row in rows])


def _with_lists(row: Row, several: Sequence[bool]) -> Row:
    """A row whose tuples are several values of a property, as far as these columns may be."""
    own = (
        PropertyList(value) if isinstance(value, tuple) and is_several else value
        for value, is_several in zip(row, several, strict=False)
    )
    return (*own, *row[len(several) :])


@dataclass(frozen=True, slots=True)
class _Separate:
    """A projection whose groups are those of its keys alone, so that each aggregate may be read by itself."""

    keys: _Keys
    numbers: Sequence[Sequence[Column]]
    """Aggregates that one query reads each, beside the keys."""
    others: Mapping[Aggregate, str]
    """Other aggregates of values, each with its column."""
    project: Project
    """The projection over groups that have all these columns."""

    @property
    def is_single_count(self) -> bool:
        """Whether it is a single number of matches or nodes: the store is asked for that anyway."""
        measures = (column for columns in self.numbers for column in columns if column.value != _ROWS)
        counts = all(isinstance(one.value, Aggregate) and not is_measure(one.value) for one in measures)
        return not self.keys.columns and not self.others and len(self.numbers) == 1 and counts


def _separate(match: Match, project: Project, *, lists: bool) -> _Separate | None:
    """The aggregates to be read by themselves; None if one cannot be, or if a key is more than a value of the graph."""
    keys = _Keys(match, {}, lists)
    values = [column.value for column in project.columns if not aggregates(column.value)]
    if any(keys.over_groups(value) is None for value in values):
        return None
    width = len(keys.columns)
    columns = {one: f"\0sum{place}" for place, one in enumerate(dict.fromkeys(_aggregates(project)))}
    numbers: dict[Expression | None, list[Column]] = {}
    others: dict[Aggregate, str] = {}
    for one, name in columns.items():
        match one:
            case Aggregate(AggregateFunction.COUNT, None):
                numbers[None] = [Column(MULTIPLICITY, one)]
            case Aggregate(AggregateFunction.COUNT, Variable(node), distinct=True) if node in node_patterns(match):
                numbers[one.of] = [Column(name, one)]
            case _ if is_measure(one):
                numbers.setdefault(one.of, []).append(Column(name, one))
            case _ if _Keys(match, {}, lists).cover(one):
                others[one] = name
            case _:
                return None

    def change(part: object) -> Expression | None:
        if isinstance(part, Aggregate) and part != _ROWS:
            return Aggregate(AggregateFunction.MAXIMUM, Variable(columns[part]))  # of the only row of its group
        return keys.over_groups(part)

    over_groups = rewritten(project, change)
    if not variables_of(match).isdisjoint(variables_of(over_groups)) or len(keys.columns) > width:
        return None
    return _Separate(keys, list(numbers.values()), others, over_groups)


async def _joined(store: StoreMatcher, pattern: Match, separate: _Separate) -> Table | None:
    """A row for each group with all aggregates; None if one has too many rows, or if two groups have equal keys."""
    names, width = tuple(separate.keys.columns.values()), len(separate.keys.columns)
    lists = separate.keys.lists(separate.project)
    tables = [
        await _weighted(store, pattern, separate.keys, lists, store.bound, *columns) for columns in separate.numbers
    ]
    for one, name in separate.others.items():
        own = _Keys(pattern, dict(separate.keys.columns), separate.keys.with_lists)
        aggregate = rewritten(one, own.over_groups)
        lists = own.lists(separate.project, aggregate) - variables_of(aggregate)
        table = await _weighted(store, pattern, own, lists, store.bound)
        columns = (*(Column(key, Variable(key)) for key in names), Column(name, aggregate))
        tables.append(None if table is None else await projected(store.expressions, Project(columns), table))
    by_key: dict[tuple[object, ...], Row] = {}
    for table in tables:
        if table is None:
            return None
        rows = {tuple(map(identity, row[:width])): row for row in table.rows}
        if len(rows) < len(table.rows) or (by_key and by_key.keys() != rows.keys()):
            return None
        by_key = {key: (*by_key.get(key, row[:width]), *row[width:]) for key, row in rows.items()}
    columns = (name for table in tables if table is not None for name in table.names[width:])
    return Table((*names, *columns), list(by_key.values()))


def makes_groups(project: Project) -> bool:
    """Whether a projection has one row for several."""
    return project.distinct or bool(_aggregates(project))


def _aggregates(project: Project) -> list[Aggregate]:
    return [one for one in parts(project) if isinstance(one, Aggregate)]
