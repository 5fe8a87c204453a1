"""Asks the Wikidata questions by plans: each gold SPARQL as one plan in Cypher, with qualifiers as edge properties."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kgnav_bench.client import ToolFailedError
from kgnav_bench.freebase_reach import pages
from kgnav_bench.gold_sparql import Direct, Pattern, Qualified, Query, is_variable, parse
from kgnav_bench.replay import Caller
from kgnav_bench.tables import Table, UnreadableAnswerError
from kgnav_bench.wikidata import GoldQuery
from kgnav_bench.wikidata_walk import Walked

_ITEM = re.compile(r"\bwd:(Q\d+)\b")


class PlanWalker:
    """Asks questions over one client, one plan for each. Each further page of a long answer is another call."""

    def __init__(self, client: Caller) -> None:
        self._client = client

    def walk(self, question: GoldQuery) -> Walked:
        """Run a question's plan, and compare its answers with the gold answers."""
        query = parse(question.sparql)
        walked = Walked(question, "pq:" in question.sparql)
        found: set[str] = set()
        try:
            for page in pages(self._client, "run_plan", {"plan": gold_plan(query)}):
                walked.calls += 1
                found |= _answers(query, page)
        except (ToolFailedError, UnreadableAnswerError) as error:
            walked.fault = str(error)
        else:
            walked.compare(query, frozenset(found))
        walked.sent = walked.calls
        return walked


def _answers(query: Query, page: Table) -> set[str]:
    """The ids in the cells of the answer, or its count."""
    cells = [cell for name in query.variables for cell in page.column(name[1:])]
    return set(cells) if query.counted else {item for cell in cells for item in _ITEM.findall(cell)}


def gold_plan(query: Query) -> str:
    """The query in Cypher, without its limit, so that all answers are returned."""
    return " UNION ".join(_branch(query, branch) for branch in query.branches)


def _branch(query: Query, patterns: Sequence[Pattern]) -> str:
    nodes = {term for each in patterns for term in (each.subject, each.value) if term is not None}
    parts: list[str] = []
    conditions: list[str] = []
    if query.excluded is not None:
        conditions.append(" <> ".join(map(_name, query.excluded)))
    values: dict[str, str] = {}
    for number, each in enumerate(patterns):
        parts.append(_path(each, f"r{number}"))
        if isinstance(each, Qualified):
            conditions += _qualifiers(each, f"r{number}", nodes, values)
    named = {term: f"{_name(term)} {{id: 'wd:{term}'}}" for term in nodes if not is_variable(term)}
    starts = [f"({one})" for _, one in sorted(named.items())]
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"MATCH {', '.join((*starts, *parts))}{where} RETURN {_returned(query, values)}"


def _returned(query: Query, values: dict[str, str]) -> str:
    if query.counted:
        (counted,) = query.variables
        return f"count(DISTINCT {values.get(counted, _name(counted))}) AS {_name(counted)}"
    return "DISTINCT " + ", ".join(f"{values[each]} AS {_name(each)}" if each in values else _name(each)
                                   for each in query.variables)  # fmt: skip


def _path(pattern: Pattern, edge: str) -> str:
    start, end = f"({_name(pattern.subject)})", f"({_name(pattern.value) if pattern.value else ''})"
    if isinstance(pattern, Qualified):
        return f"{start}-[{edge}:{pattern.property}]->{end}"
    return f"{start}{'()'.join(_steps(pattern))}{end}"


def _steps(pattern: Direct) -> Iterator[str]:
    if pattern.either:
        yield f"-[:{'|'.join(step.property for step in pattern.path)}]->"
        return
    for step in pattern.path:
        length = {"": "", "*": "*0..", "+": "*1.."}[step.repeated]
        yield f"-[:{step.property}{length}]->"


def _qualifiers(pattern: Qualified, edge: str, nodes: set[str], values: dict[str, str]) -> Iterator[str]:
    """The conditions on qualifiers. A variable that is not a node is a qualifier's value."""
    for name, end in pattern.qualifiers:
        value = f"{edge}.{name}"
        if not is_variable(end):
            yield f"{value} = 'wd:{end}'"
        elif end in nodes:
            yield f"{value} = elementId({_name(end)})"
        else:
            values[end] = value
            yield f"{value} IS NOT NULL"


def _name(term: str) -> str:
    return term.removeprefix("?") if is_variable(term) else term.lower()
