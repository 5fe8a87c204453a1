"""How a store's SPARQL differs from the standard, as data. To support a new store, add a value of `Dialect`.

Answers are understood whatever dialect was assumed: errors by their text, row caps and cut answers by their headers.
Requests (format, time limit, full-text index) follow the dialect that is known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

import httpx2

from kgnav_mcp.adapters.sparql_base.errors import Refusal
from kgnav_mcp.adapters.sparql_base.results import JSON_TYPE
from kgnav_mcp.errors import KgnavError


def _cut_by_time(status: int, headers: httpx2.Headers) -> bool:
    del headers
    return status == HTTPStatus.PARTIAL_CONTENT


@dataclass(frozen=True, slots=True, kw_only=True)
class FullText:
    """A full-text index, and how to query it. A query is made of words, joined by `and_separator` or `or_separator`."""

    matching: str
    """The SPARQL query for texts `?o` of the relations $kinds that match the full-text query $words."""
    probe: str
    """The SPARQL query for one name that matches $words."""
    word: Callable[[str], str]
    """Quotes a word, so that it has no special meaning in a full-text query."""
    prefix_query: Callable[[str], str | None]
    """The full-text query for words that begin with this one; None where the index cannot search for it."""
    min_prefix_letters: int
    """The minimum number of letters of such a prefix."""
    and_separator: str
    or_separator: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancellation:
    """How a running query is cancelled in a store that computes on when its caller has left."""

    with_id: Callable[[str, str], str]
    """The query with an id, by which it can be cancelled."""
    request: Callable[[str], Mapping[str, str]]
    """The request parameters that cancel the query with an id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One kind of store. The defaults follow the standard."""

    name: str
    title: str = "an unknown store"
    """Its name in messages."""
    announced: Callable[[httpx2.Headers], bool] = field(default=lambda _: False)
    """Whether the headers of an answer identify this kind of store."""
    stable_order: bool = False
    """Whether rows without ORDER BY come in the same order at every request until data is written.

    Only then may a list be paged by OFFSET. False unless that was tested.
    """
    stable_distinct: bool = True
    """Whether rows of a query with DISTINCT also come in the same order at every request."""
    max_sorted: int | None = None
    """Maximum number of rows of a query with ORDER BY and LIMIT; None: there is none."""
    merges_graphs: bool = True
    """Whether a triple of several graphs that are read as one matches once, as the standard says."""
    reads_all_graphs: bool = False
    """Whether all graphs are read as one where none is named."""
    is_system_graph: Callable[[str], bool] = field(default=lambda _: False)
    """Whether the graph with this IRI is one of the store's own."""
    nests_exists: bool = True
    """Whether an EXISTS nested in an EXISTS is evaluated if it is only a part of the expression of its FILTER."""
    max_optionals: int | None = None
    """Maximum number of values of the rows of a query, each read by an OPTIONAL; None: any number."""
    joins_from_outside: bool = True
    """Whether the patterns within an EXISTS are joined from the variables that are bound outside of it. Otherwise those
    that need not begin there are nested in an EXISTS of their own."""
    nests_unions: bool = True
    """Whether an EXISTS with several UNIONs is evaluated beside a UNION."""
    joins_loops: bool = True
    """Whether a triple pattern with one variable at both ends matches loops alone also where it is joined."""
    paths_need_constant: bool = False
    """Whether the result of a path of any length is right only if one of its ends is written as a constant, and nothing
    else lists the other. With VALUES for both, Virtuoso finds nodes that no path leads to."""
    reaches_cycles: bool = False
    """Whether a path with `+` also leads to the nodes of a cycle that it begins in, which is tested. Virtuoso leaves
    them out."""
    in_written_order: str = ""
    """What precedes a query whose patterns are joined in the order in which they are written; empty: the store's own
    order is good."""
    lists_first: bool = False
    """Whether nodes are listed by a query of their own before their triples are read: it may not know how few they
    are."""
    counts_fast: bool = False
    """Whether it counts the nodes with a property much faster than it compares the values of each."""
    probe: str = ""
    """A query of no cost that returns a row only if it is this kind of store; empty: the headers are enough."""
    takes_large_integers: bool = True
    """Whether a query may have integers of more than 64 bits. Virtuoso refuses it, or takes another number."""
    omits_ones: bool = False
    """Whether a computed number can be left unbound where it is 1, as tested. Virtuoso writes a number three times as
    slowly as an IRI."""
    types_texts: bool = False
    """Whether a text with the datatype xsd:string is another term than the same text without a datatype, as in
    RDF 1.0."""
    repeats_literals: bool = False
    """Whether it finds a literal by the form in which its answers write it, which is tested. Virtuoso does not: it
    writes six digits of a double."""
    repeats_texts: bool = False
    """As `repeats_literals`, for literals that are not numbers or dates."""
    unusual_number: str = ""
    """The condition that $value, of a datatype of numbers, is not found by its number in that datatype; empty: by no
    number is it sure to be found, because the store compares spellings, or that was not tested."""
    media_type: str = JSON_TYPE
    """The result format that it writes fastest."""
    row_cap: str = ""
    """The header that states its row cap; empty: there is none."""
    cut_by_time: Callable[[int, httpx2.Headers], bool] = _cut_by_time
    """Whether an answer with this status and these headers is partial because of a time limit."""
    time_limit: Callable[[float], Mapping[str, str]] = field(default=lambda _: {})
    """The request parameters that make the store itself stop a query after this many seconds."""
    max_matches: int | None = 10_000_000
    """Maximum number of matches that one query groups or counts; None if the time limit stops any query, as tested.

    Any other store continues after the call is over, so a whole graph is read there only if it is known to be small.
    Oxigraph counts a million matches in about a second.
    """
    cancellation: Cancellation | None = None
    """How the store cancels a query; None if it cannot, or stops by itself when its caller leaves."""
    full_text: FullText | None = None
    """The full-text index that it may have."""
    max_iris: int = 200
    """Maximum number of IRIs in one list of a query: their rows stay below the usual row cap of 10,000."""
    max_texts: int = 500
    """Maximum number of texts in one list of a query."""
    max_branches: int = 40
    """Maximum number of branches of one union: beyond it the cost grows faster than the number."""
    max_counted: int = 200
    """Maximum number of entities in a query that counts by grouping. Any endpoint may be a Virtuoso, which takes
    gigabytes for 1,000."""
    error: Callable[[Refusal], KgnavError | None] = field(default=lambda _: None)
    """The error that an answer means in this dialect; None: the error of the SPARQL protocol."""
    says_timed_out: Callable[[Refusal], bool] = field(default=lambda _: False)
    """Whether an answer without results says that the query timed out."""


_TIME_WAS_OVER: Final = re.compile(r"[Qq]uery (?:timed out|timeout)|due to (?:a )?time-?out")

PLAIN: Final = Dialect(name="plain", says_timed_out=lambda refusal: _TIME_WAS_OVER.search(refusal.text) is not None)
"""Any store: only what all stores have in common."""
