"""Finds the matches of a pattern: with one query, or with one for each batch of given nodes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType

from rdflib import BNode, Literal, URIRef

from kgnav_mcp.adapters.sparql_base.names import Names
from kgnav_mcp.adapters.sparql_base.plans import queries
from kgnav_mcp.adapters.sparql_base.plans.groups import SHARE, GroupReader, bounded
from kgnav_mcp.adapters.sparql_base.plans.patterns import Pattern, write_pattern
from kgnav_mcp.adapters.sparql_base.plans.windows import WindowReader, matches_in
from kgnav_mcp.adapters.sparql_base.plans.writing import Writer, cannot_express
from kgnav_mcp.adapters.sparql_base.query_reader import Read, Reader, Row, number_in
from kgnav_mcp.adapters.sparql_base.results import Term
from kgnav_mcp.adapters.sparql_base.terms import MAX_TERMS, Fragment
from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.errors import Unsupported
from kgnav_mcp.model import Entity, Node, PlanPage, Stop
from kgnav_mcp.plan import EdgePattern, Match, Plan
from kgnav_mcp.port.lists import batches
from kgnav_mcp.port.pattern_queries import PatternMatch, PatternQuery, pattern_query

_MAX_SORTED = 5_200
"""Maximum number of rows with the largest numbers: Virtuoso sorts no more than 10,000."""
_NO_LIMIT = 1_000_000_000
"""The LIMIT of a count without groups: Virtuoso 7.2.5 counts no more matches than that in each branch of a UNION."""


class MatchReader:
    """Runs plans that are single patterns."""

    def __init__(self, reader: Reader, names: Names, writer: Writer) -> None:
        self._reader = reader
        self._names = names
        self._writer = writer
        self._groups = GroupReader(reader, names, writer)

    async def page(self, plan: Plan, limit: int, after: str | None) -> PlanPage:
        """The first rows of a plan. Raises as the port's verb `run` does."""
        question = pattern_query(plan, with_keys=True, with_qualifiers=True, with_texts=True)
        if after is not None or (question.largest_first and limit > _MAX_SORTED):
            raise cannot_express("a later page of sorted rows, or this many sorted rows")
        found = await self._matches(question, limit)
        return await in_thread(len(found), lambda: question.page(found, limit))

    async def _matches(self, question: PatternQuery, limit: int) -> Sequence[PatternMatch]:
        """Up to `limit` matches."""
        pattern = await write_pattern(self._writer, question)
        if question.keys or question.measures:
            return await self._groups.groups(question, pattern, limit)
        if not question.given_nodes:
            return await self._read(question, pattern, Fragment(""), limit)
        found: list[PatternMatch] = []
        for batch in batches(question.given_rows, MAX_TERMS // len(question.given_nodes)):
            given_values = await in_thread(len(batch), lambda batch=batch: pattern.given(question.given_nodes, batch))
            most = limit if question.largest_first else limit - len(found)
            found += await self._read(question, pattern, given_values, most)
            if len(found) == limit and not question.largest_first:
                break
        return _largest_first(found)[:limit] if question.largest_first else found

    async def has_more(self, plan: Plan, than: int) -> bool:
        """Answers the verb `has_more_rows`. None if that is not known, because the given nodes need several queries."""
        question = pattern_query(plan, with_qualifiers=True)
        given_terms = len(question.given_rows) * len(question.given_nodes)
        if not question.nodes or question.least > 1 or given_terms > MAX_TERMS:
            return False
        pattern = await write_pattern(self._writer, question, iris_only=True)
        given_values = (
            pattern.given(question.given_nodes, question.given_rows) if question.given_nodes else Fragment("")
        )
        nodes = Fragment(" ".join(pattern.node(name).text for name in question.nodes))
        text = Fragment(f"{given_values.text} {pattern.text.text}")
        read = await self._reader.select(queries.MATCHES, share=SHARE, nodes=nodes, pattern=text, most=than + 1)
        return any(number_in(row, "n") > than for row in read.rows)

    async def _read(
        self, question: PatternQuery, pattern: Pattern, given_values: Fragment, limit: int
    ) -> Sequence[PatternMatch]:
        names = [pattern.node(name).text for name in question.nodes]
        nodes = Fragment(" ".join(names))
        counted = Fragment(queries.EACH)
        if question.counted is not None:
            counted = self._reader.part(queries.DIFFERENT, node=pattern.node(question.counted))
        number = self._reader.part(queries.COUNTED, counted=counted)
        if self._reader.dialect.omits_ones and len(names) == 2 and _lists_edges(question):
            number = Fragment(queries.SEVERAL)
        groups = self._reader.filled(queries.GROUPED, nodes=nodes) if names else ""
        if question.least > 1:
            groups += f" {self._reader.filled(queries.AT_LEAST, counted=counted, least=question.least)}"
        terms = {
            "nodes": nodes,
            "number": number,
            "groups": Fragment(groups),
            "order": Fragment(queries.LARGEST_FIRST if question.largest_first else ""),
            "size": self._size_column(question),
        }
        text = f"{given_values.text} {pattern.text.text}"
        windows = self._windows(question, pattern)
        most = self._reader.max_optionals
        if question.properties and not question.largest_first and (most is None or len(question.properties) <= most):
            with suppress(Unsupported):
                return await self._with_values(question, pattern, limit, text, terms)

        async def select(text: str, before: str) -> Read:
            own = {**terms, "pattern": bounded(self._reader, text)}
            return await self._reader.select(before + queries.MATCH_PATTERN, share=SHARE, skip=0, most=limit, **own)

        read = Read((), Stop.ROW_CAP) if windows is None else await windows.read(text, select, limit)
        terms["pattern"] = bounded(self._reader, text)
        if read.stop is Stop.ROW_CAP:
            most_rows = limit if names else _NO_LIMIT
            read = await self._reader.slice(queries.MATCH_PATTERN, 0, most_rows, share=SHARE, **terms)
        rows = read.all_rows()
        await self._check_sizes(rows, limit, terms["pattern"], _only_edge(question, pattern), whole=question.least == 1)
        blanks = [name for name in names if any(isinstance(row.get(name.removeprefix("?")), BNode) for row in rows)]
        if not blanks:
            return await self._converted(rows, names)
        matches = self._reader.part(queries.MATCH_PATTERN, skip=0, most=limit, **terms)
        found = await self._blank_matches(matches, terms["pattern"], names, blanks)
        return _largest_first(found) if question.largest_first else found

    def _windows(self, question: PatternQuery, pattern: Pattern) -> WindowReader | None:
        """Reads an answer in parts, where its groups add up to all matches; None if it has no parts."""
        if question.largest_first or question.given_nodes or question.counted is not None or question.least > 1:
            return None
        names = [pattern.node(name).text for name in question.nodes]
        listings = pattern.listings(names)
        return WindowReader(self._reader, names, listings) if listings else None

    async def _blank_matches(
        self, matches: Fragment, pattern: Fragment, names: Sequence[str], blanks: Sequence[str]
    ) -> Sequence[PatternMatch]:
        """The matches of a query, some of whose variables, `blanks`, may be blank nodes.

        Raises:
            Unsupported: they have no ids here.
        """
        del matches, pattern, names, blanks
        raise cannot_express("a blank node")

    async def _with_values(
        self,
        question: PatternQuery,
        pattern: Pattern,
        limit: int,
        text: str,
        terms: Mapping[str, Fragment],
    ) -> Sequence[PatternMatch]:
        """Up to `limit` matches of the pattern `text`, with the values of properties of their nodes.

        Raises:
            Unsupported: the values are to be read by queries of their own.
        """
        names = [pattern.node(name).text for name in question.nodes]
        columns = [f"?v{place}" for place, _ in enumerate(question.properties)]
        values = [
            self._reader.part(
                queries.OF_NODE,
                node=pattern.node(owner),
                property=self._writer.property(relation),
                value=Fragment(column),
            ).text
            for (owner, relation), column in zip(question.properties, columns, strict=True)
        ]

        async def select(text: str, before: str) -> Read:
            own = {**terms, "pattern": bounded(self._reader, text)}
            return await self._reader.select(
                before + queries.WITH_VALUES,
                share=SHARE,
                columns=Fragment(" ".join([*names, *columns])),
                matches=self._reader.part(queries.MATCH_PATTERN, skip=0, most=limit, **own),
                values=Fragment(" ".join(values)),
                size=Fragment("?size" if terms["size"].text else ""),
            )

        windows = self._windows(question, pattern)
        rows = (await (select(text, "") if windows is None else windows.read(text, select, limit))).all_rows()
        of_match = {tuple(row.get(name.removeprefix("?")) for name in names): row for row in rows}
        await self._check_sizes(
            of_match.values(),
            limit,
            bounded(self._reader, text),
            _only_edge(question, pattern),
            whole=question.least == 1,
        )
        return await in_thread(len(rows), lambda: self._valued(rows, names, columns))

    def _valued(self, rows: Sequence[Row], names: Sequence[str], columns: Sequence[str]) -> Sequence[PatternMatch]:
        """Convert rows: a match has several if a property has several values."""
        names, columns = ([name.removeprefix("?") for name in each] for each in (names, columns))
        found: dict[tuple[str, ...], tuple[int, list[dict[Term, None]]]] = {}
        for row in rows:
            match = self._match(row, names)
            if match.number:
                _, values = found.setdefault(match.nodes, (match.number, [{} for _ in columns]))
                for value, column in zip(values, columns, strict=True):
                    if column in row:
                        value[row[column]] = None
        return [
            PatternMatch(nodes, number, tuple(tuple(map(self._value, own)) for own in values))
            for nodes, (number, values) in found.items()
        ]

    def _value(self, term: Term) -> Node:
        if isinstance(term, BNode):
            raise cannot_express("a blank node")
        return self._names.literal(term) if isinstance(term, Literal) else Entity(self._names.naming.short(term))

    def _size_column(self, question: PatternQuery) -> Fragment:
        """The column with the sizes of the groups, where the pattern has an end and they are not counted anyway."""
        is_needed = self._reader.max_matches is not None and question.counted is not None
        return Fragment(queries.GROUP_SIZE if is_needed else "")

    async def _check_sizes(
        self, groups: Collection[Row], limit: int, pattern: Fragment, edge: Fragment | None, *, whole: bool
    ) -> None:
        """Refuse groups whose counts are too low because the pattern reached its bound. `whole`: none is left out.

        `edge`: the only edge of the pattern, to which the rest of it adds no matches.

        Raises:
            Unsupported: it did.
        """
        bound = self._reader.max_matches
        if bound is None:
            return
        size = sum(number_in(group, "size") if "size" in group else matches_in(group) for group in groups)
        if len(groups) == limit or not whole:  # there may be other groups
            if edge is not None and await self._size(bounded(self._reader, edge.text)) < bound:
                return  # all edges are counted many times faster than those between the labels of the pattern
            size = await self._size(pattern)
        if size >= bound:
            raise cannot_express(f"more than {bound:,} matches")

    async def _size(self, pattern: Fragment) -> int:
        read = await self._reader.select(queries.BOUNDED_COUNT, share=SHARE, pattern=pattern)
        return number_in(read.rows[0], "size")

    async def _converted(
        self, rows: Sequence[Row], names: Sequence[str], blanks: Mapping[BNode, str] = MappingProxyType({})
    ) -> Sequence[PatternMatch]:
        """Convert rows; `blanks` are the ids of the blank nodes of this answer."""
        variables = [name.removeprefix("?") for name in names]
        found = await in_thread(
            len(rows), lambda: [match for row in rows if (match := self._match(row, variables, blanks)).number]
        )
        if len({match.nodes for match in found}) < len(found):
            raise cannot_express("groups in an order that is not stable")
        return found

    def _match(
        self, row: Row, variables: Sequence[str], blanks: Mapping[BNode, str] = MappingProxyType({})
    ) -> PatternMatch:
        """Convert a row. Blank nodes without an id are refused: their labels are valid only within this answer."""
        number = matches_in(row)
        terms = [row[name] for name in variables] if number else []
        if any(isinstance(term, BNode) and term not in blanks for term in terms):
            raise cannot_express("a blank node")
        short = self._names.naming.short
        nodes = (
            blanks[term] if isinstance(term, BNode) else short(term if isinstance(term, URIRef) else URIRef(str(term)))
            for term in terms
        )
        return PatternMatch(tuple(nodes), number)


def _lists_edges(question: PatternQuery) -> bool:
    """Whether the matches are the edges of a relation, in its direction and between nodes of any labels."""
    match question.match:
        case Match(edges=(EdgePattern(path=None, either=False),), where=None) as match:
            others = question.largest_first or question.texts or question.qualifiers
            return question.counted is None and not others and not any(node.labels for node in match.nodes)
        case _:
            return False


def _only_edge(question: PatternQuery, pattern: Pattern) -> Fragment | None:
    """The edge of a pattern that has only this one, and no qualifiers that add rows; otherwise None."""
    alone = (
        not question.given_nodes
        and not question.qualifiers
        and len(question.match.edges) == len(pattern.edge_texts) == 1
    )
    return pattern.edge_texts[0] if alone else None


def _largest_first(found: Sequence[PatternMatch]) -> list[PatternMatch]:
    return sorted(found, key=lambda one: one.number, reverse=True)
