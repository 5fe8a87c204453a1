"""The schema of a graph as an overview: labels, relations with the labels of their ends, properties."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kgnav_mcp.clipping import clipped
from kgnav_mcp.model import (
    Completeness,
    Count,
    EdgeFacts,
    LabelFacts,
    Listing,
    PropertyFacts,
    QualifierFacts,
    Schema,
    Stop,
)
from kgnav_mcp.render.columns import (
    COUNT,
    RELATION,
    STRING,
    Column,
    Columns,
    ColumnType,
    Json,
    Row,
    TruncatedList,
    answer_json,
    count_json,
    drop_empty_columns,
    json_value,
    list_schema,
    object_schema,
    row_json,
    row_texts,
)
from kgnav_mcp.render.table import RenderedAnswer, RenderOptions, singular
from kgnav_mcp.render.text import NAME_LIMIT, call_text, clean, count_tokens, printable_id, table_cell

OVERVIEW_TOKENS = 1900
"""Token budget of an overview of any graph. With its first line it stays within 2,000."""

_FRAME_TOKENS = 80
"""Tokens reserved for the first line and the line with the next step."""

_HEADING_TOKENS = 40
"""Tokens reserved for a section's title and headings."""

_KIND_TOKENS = 5
"""Tokens of the `kind` property of a row in structured content."""

LabelPair = tuple[str, str, Count]
"""Label of the heads, label of the tails, and the number of a relation's triples between them."""


def _pair_text(pair: LabelPair, limit: int) -> str:
    head, tail, triples = pair
    return f"(:{clipped(head, limit)})->(:{clipped(tail, limit)}) {triples}"


def _pair_fact(pair: LabelPair, limit: int) -> Json:
    head, tail, triples = pair
    return {"from": json_value(head, limit), "to": json_value(tail, limit), "triples": count_json(triples)}


def _qualifier_text(facts: QualifierFacts, limit: int) -> str:
    shows_datatypes = any(datatype not in _TEXT for datatype in facts.datatypes)
    kinds = f" ({' or '.join(facts.datatypes[:_DATATYPES])})" if shows_datatypes else ""
    return f"{clipped(facts.id, limit)}{kinds}"


def _qualifier_fact(facts: QualifierFacts, limit: int) -> Json:
    return {"property": json_value(facts.id, limit), "types": json_value(facts.datatypes, limit)}


def _list(name: str, item: Json, text: Callable[[Any, int], str], of: Callable[[Any, int], object]) -> Column:
    """A column of lists that may be truncated to their first items."""
    kind = ColumnType(
        list_schema(item),
        lambda items, limit: (", ".join(text(each, limit) for each in items),),
        lambda items, limit: [of(each, limit) for each in items],
    )
    return Column(name, kind, optional=True, limit=NAME_LIMIT, truncatable=True)


_PAIR = object_schema({"from": STRING, "to": STRING, "triples": COUNT.schema})
_QUALIFIER = object_schema({"property": STRING, "types": list_schema(STRING)})
_LISTINGS = tuple(Listing)
_LABELS = (
    Column("label"),
    Column("name", optional=True),
    Column("nodes", COUNT),
    _list("properties", STRING, clipped, json_value),
    Column("propertiesListed", optional=True, choices=_LISTINGS),
)
_RELATIONS = (
    Column("relation", RELATION),
    Column("name", optional=True),
    Column("triples", COUNT),
    _list("joins", _PAIR, _pair_text, _pair_fact),
    _list("from", STRING, clipped, json_value),
    _list("to", STRING, clipped, json_value),
    _list("qualifiers", _QUALIFIER, _qualifier_text, _qualifier_fact),
    Column("qualifiersListed", optional=True, choices=_LISTINGS),
)
_PROPERTIES = (
    Column("property", RELATION),
    Column("name", optional=True),
    Column("values", COUNT),
    _list("types", STRING, clipped, json_value),
)


def _with_kind(columns: Columns) -> Columns:
    """The section's columns after a `kind` column that tells its rows from other sections'.

    The kind is the name of the first column.
    """
    kind = columns[0].name
    return Column("kind", choices=(kind,)), *columns


OVERVIEW_COLUMNS = tuple(map(_with_kind, (_LABELS, _RELATIONS, _PROPERTIES)))

_LIST_ITEMS = 4
_DATATYPES = 2
"""Maximum datatypes shown of a qualifier. A qualifier with only texts shows none."""
_TEXT = frozenset({"string", "xsd:string"})
_PAIRS_AROUND_NAME = 20
"""Maximum pairs of end labels shown for each relation around one name."""
_LONGEST_LISTS = ((20, 50), (8, 25), (4, 12), (3, 8), (2, _LIST_ITEMS))
"""Maximum pairs of end labels, and most properties or qualifiers, shown in a row: the first that fit the budget."""
SCHEMA_ROWS = 1_000
"""Labels, relations and properties that are read for an overview, of each at most."""


@dataclass(frozen=True, slots=True)
class Section:
    """One list of a schema, truncated to its share of the budget."""

    title: str
    columns: Sequence[Column]
    """The columns that are not empty."""
    rows: Sequence[Row]
    total: int
    """Number of rows before truncation."""
    tokens: int
    """Tokens of the rows shown, with the headings."""

    @property
    def is_complete(self) -> bool:
        """Whether all rows are shown."""
        return len(self.rows) == self.total

    @property
    def lines(self) -> list[str]:
        """The list as a titled table."""
        if not self.total:
            return [f"no {self.title}"]
        if not self.rows:
            return [f"{self.total:,} {self.title}, omitted because their names are too long"]
        least = "at least " if self.total >= SCHEMA_ROWS else ""
        more = self.total - len(self.rows)
        cut = [f"{least}{more:,} more {self.title}: describe_graph(name=...)"] if more else []
        noun = self.title if self.total > 1 else singular(self.title)
        table = ["|".join(map(table_cell, row_texts(self.columns, row, NAME_LIMIT))) for row in self.rows]
        names = [name for column in self.columns for name in column.headings]
        first = ", the largest first" if more else ""
        head = ["", f"{least}{self.total:,} {noun}{first}", "|".join(names), "|".join("--" for _ in names)]
        return [*head, *table, *cut]

    @property
    def facts(self) -> list[dict[str, object]]:
        """The same rows as JSON, each with its kind."""
        kind = singular(self.title)
        return [{"kind": kind, **row_json(self.columns, row, NAME_LIMIT)} for row in self.rows]


def schema_overview(graph: str, schema: Schema, name: str | None, options: RenderOptions) -> RenderedAnswer:
    """The whole schema in at most 2,000 tokens; with `name`, the part around that name within the budget.

    Labels and properties take at most a third each, relations the rest. A truncated list states its total.
    """
    left = (options.budget if name else min(options.budget, OVERVIEW_TOKENS)) - _FRAME_TOKENS
    third = left // 3
    labels = _fit_labels(schema, third, options)
    properties = _section("properties", _PROPERTIES, [*map(_property, schema.properties)], third, options)
    left -= labels.tokens + properties.tokens
    relations = _fit_relations(schema, name, left, options)
    sections = (labels, relations, properties)
    legend = options.prefix_legend("\n".join(line for section in sections for line in section.lines), third)
    if legend:
        relations = _fit_relations(schema, name, left - count_tokens(legend[0]), options)
        sections = (labels, relations, properties)
    head, step = _first_line(graph, schema, name), _next_step(schema, name)
    text = "\n".join((head, *(line for section in sections for line in section.lines), "", *map(clean, legend), step))
    rows = [row for section in sections for row in section.facts]
    complete = all(section.is_complete for section in sections)
    total = Count(sum(section.total for section in sections))
    completeness = Completeness(len(rows), total, Stop.COMPLETE if complete else Stop.BUDGET)
    return RenderedAnswer(text, answer_json(completeness, rows, (head, *legend, step)))


def _fit_labels(schema: Schema, budget: int, options: RenderOptions) -> Section:
    """The section of the labels, each with as many of its properties as leave room for every label."""
    marks = _listing_marks([facts.listing for facts in schema.labels])

    def section_with(_: int, most: int) -> Section:
        rows = [_label(facts, mark, most) for facts, mark in zip(schema.labels, marks, strict=True)]
        return _section("labels", _LABELS, rows, budget, options)

    return _with_longest_lists(section_with, lambda section: section.is_complete)


def _fit_relations(schema: Schema, name: str | None, budget: int, options: RenderOptions) -> Section:
    """The section of the relations, each with as many pairs of labels and qualifiers as leave room for every relation.

    The relation `name` has as many of its qualifiers as fit the budget.
    """
    marks = _listing_marks([facts.listing for facts in schema.relations])

    def section_with(pairs: int, most: int) -> Section:
        rows: list[Row] = []
        for facts, mark in zip(schema.relations, marks, strict=True):
            has_long_list = name is None or _is_named(facts, schema, name)
            lists = pairs if name is None else _PAIRS_AROUND_NAME, most if has_long_list else _LIST_ITEMS
            rows.append(_edge(facts, name, mark, lists))
        return _section("relations", _RELATIONS, rows, budget, options)

    return _with_longest_lists(
        section_with, lambda section: section.is_complete if name is None else bool(section.rows)
    )


def _with_longest_lists(section_with: Callable[[int, int], Section], is_accepted: Callable[[Section], bool]) -> Section:
    """The section with the longest lists that is accepted, or else the one with the shortest."""
    *longer, shortest = _LONGEST_LISTS
    return next(filter(is_accepted, (section_with(*each) for each in longer)), None) or section_with(*shortest)


def _listing_marks(listings: Sequence[Listing]) -> Sequence[str]:
    """Notes on how complete each row's list is; empty texts if all lists are complete."""
    return [""] * len(listings) if set(listings) <= {Listing.COMPLETE} else [str(listing) for listing in listings]


def _is_named(facts: EdgeFacts, schema: Schema, name: str | None) -> bool:
    """Whether a relation is the one with this name: by its id or label, or as the only one."""
    names = (facts.relation.id.casefold(), facts.relation.label.casefold())
    return name is not None and (len(schema.relations) == 1 or name.strip().casefold() in names)


def _section(title: str, columns: Columns, rows: Sequence[Row], budget: int, options: RenderOptions) -> Section:
    """A section with as many rows as fit the budget."""
    named, all_rows = drop_empty_columns(columns, rows)
    shown: list[Row] = []
    tokens = _HEADING_TOKENS if rows else 0
    for row in all_rows:
        size = options.row_tokens(named, row) + (_KIND_TOKENS if options.structured else 0)
        if tokens + size > budget:
            break
        tokens += size
        shown.append(row)
    return Section(title, named, shown, len(rows), tokens)


def _label(facts: LabelFacts, mark: str, properties: int) -> Row:
    name = "" if facts.label == facts.id else clipped(facts.label, NAME_LIMIT)
    shown = _first(tuple(map(printable_id, facts.properties)), properties)
    return printable_id(facts.id), name, facts.count, shown, mark


def _edge(facts: EdgeFacts, name: str | None, mark: str, longest: tuple[int, int]) -> Row:
    """A relation with its pairs of end labels, or with the labels at either end if the pairs are not known.

    `longest` has the most pairs and the most qualifiers that are shown. With `name`, only the pairs that have this
    label are shown, if there are any.
    """
    most_pairs, most_qualifiers = longest
    pairs = [pair for pair in facts.ends if name in pair[:2]] or facts.ends
    ends = ((), ()) if pairs else (_first(facts.heads), _first(facts.tails))
    shown = _first(pairs, most_pairs)
    name_shown = clipped(facts.relation.name, NAME_LIMIT)
    return facts.relation, name_shown, facts.count, shown, *ends, _first(facts.qualifiers, most_qualifiers), mark


def _property(facts: PropertyFacts) -> Row:
    return facts.relation, clipped(facts.relation.name, NAME_LIMIT), facts.count, _first(facts.datatypes)


def _first(items: Sequence[object], most: int = _LIST_ITEMS) -> TruncatedList | tuple[()]:
    return TruncatedList(tuple(items[:most]), max(len(items) - most, 0)) if items else ()


def _first_line(graph: str, schema: Schema, name: str | None) -> str:
    where = f"{clean(clipped(name, NAME_LIMIT))} in graph {graph}" if name else f"graph {graph}"
    remarks = "; ".join(clean(remark) for remark in (schema.sampled, *schema.remarks) if remark)
    return f"{where}: {schema.entities} entities, {schema.triples} triples{f' ({remarks})' if remarks else ''}"


def _next_step(schema: Schema, name: str | None) -> str:
    if name or not (schema.labels or schema.relations):
        return 'Next: find_node(hint="...") gives an entity to start from.'
    example = schema.labels[0].label if schema.labels else schema.relations[0].relation.id
    drill = call_text("describe_graph", {"name": example})
    return 'Next: find_node(hint="...") for an entity to start from' + (f", or {drill}." if drill else ".")
