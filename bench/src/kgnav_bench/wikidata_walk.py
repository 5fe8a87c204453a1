"""Walks the Wikidata questions along their gold predicates, through a server of a live endpoint.

Each predicate is first looked up where a client would see it, in the answer of `search` on an entity, and then followed
to the last page. Qualifiers are read from the rows. A pattern whose only known end is a qualifier's value starts at the
entities that have it in the source, since no graph tool walks from such a value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kgnav_bench.client import ToolFailedError
from kgnav_bench.freebase_reach import pages
from kgnav_bench.gold_sparql import Direct, Pattern, Qualified, Query, Step, is_variable, parse
from kgnav_bench.replay import Caller
from kgnav_bench.tables import UnreadableAnswerError
from kgnav_bench.wikidata import GoldQuery, labels, statements

_FEW = 25
"""Up to this number of entities, classes are looked up one by one; for more, the class's members are read."""
_CUT = 20
"""The gold answers of a question are limited to the first twenty."""

Solution = dict[str, str]


@dataclass(frozen=True, slots=True)
class Row:
    """The far end of a row, and its qualifiers cell."""

    far: str
    qualifiers: str


@dataclass(slots=True)
class Walked:
    """The result of a question's walk."""

    question: GoldQuery
    qualified: bool
    calls: int = 0
    sent: int = 0
    """Number of calls that no earlier question had made."""
    not_offered: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    missing: frozenset[str] = frozenset()
    surplus: frozenset[str] = frozenset()
    fault: str = ""

    @property
    def reached(self) -> bool:
        return not (self.not_offered or self.missing or self.fault)

    def compare(self, query: Query, found: frozenset[str]) -> None:
        """Record the missing gold answers and, if the gold answers are complete, the surplus ones."""
        gold = self.question.answers
        self.missing = gold - found
        self.surplus = found - gold if not query.limited and len(gold) < _CUT else frozenset()


class Walker:
    """Walks questions over one client. Identical look-ups are made only once."""

    def __init__(self, client: Caller, folder: Path) -> None:
        self._client = client
        self._labels = labels(folder)
        self._has: dict[tuple[str, str], set[str]] = {}
        self._qualified: dict[tuple[str, str, str], set[str]] = {}
        for made in statements(folder):
            self._has.setdefault((made.subject, "outgoing"), set()).add(made.name)
            self._has.setdefault((made.value, "incoming"), set()).add(made.name)
            for name, value in made.qualifiers:
                self._qualified.setdefault((made.name, name, value), set()).add(made.subject)
        self._offered: dict[tuple[str, str], tuple[frozenset[str], int]] = {}
        self._rows: dict[tuple[str, str, str], tuple[tuple[Row, ...], int]] = {}
        self._now: Walked | None = None

    @property
    def calls_made(self) -> int:
        """Number of calls that were sent to the server."""
        looks = sum(calls for _, calls in self._offered.values())
        return looks + sum(calls for _, calls in self._rows.values())

    def walk(self, question: GoldQuery) -> Walked:
        """Walk a question's gold patterns, and compare the ends that are found with its gold answers."""
        query = parse(question.sparql)
        qualified = "pq:" in question.sparql
        self._now = walked = Walked(question, qualified)
        made_before = self.calls_made
        try:
            solutions = [solution for branch in query.branches for solution in self._branch(branch)]
        except (ToolFailedError, UnreadableAnswerError) as error:
            walked.fault = str(error)
        else:
            walked.compare(query, _answers(query, solutions))
        walked.sent = self.calls_made - made_before
        return walked

    def _branch(self, branch: Sequence[Pattern]) -> list[Solution]:
        """All solutions of the patterns together."""
        left = list(branch)
        solutions: list[Solution] = [{}]
        while left and solutions:
            bound = solutions[0].keys()
            pattern = min(left, key=lambda pattern: _cost(pattern, bound))
            left.remove(pattern)
            solutions = list(self._joined(solutions, pattern))
        return solutions

    def _joined(self, solutions: Sequence[Solution], pattern: Pattern) -> Iterator[Solution]:
        if isinstance(pattern, Direct) and len(solutions) > _FEW and not is_variable(pattern.value):
            members = None
            if len(pattern.path) == 1 and not pattern.path[0].repeated:
                members = {row.far for row in self.rows(pattern.value, "incoming", pattern.path[0].property)}
            for solution in solutions:
                subject = solution[pattern.subject]
                if subject in members if members is not None else pattern.value in self._ends(subject, pattern):
                    yield solution
            return
        for solution in solutions:
            for found in (
                self._direct(pattern, solution) if isinstance(pattern, Direct) else self._statement(pattern, solution)
            ):
                yield solution | found

    def _direct(self, pattern: Direct, solution: Solution) -> Iterator[Solution]:
        subject, value = solution.get(pattern.subject, pattern.subject), solution.get(pattern.value, pattern.value)
        if not is_variable(subject):
            for end in self._ends(subject, pattern):
                if is_variable(value) or end == value:
                    yield {pattern.value: end} if is_variable(value) else {}
            return
        for row in self.rows(value, "incoming", pattern.path[0].property):
            yield {pattern.subject: row.far}

    def _ends(self, subject: str, pattern: Direct) -> list[str]:
        """The distinct ends of a path."""
        if pattern.either:
            return list(dict.fromkeys(end for step in pattern.path for end in self._step([subject], step)))
        ends = [subject]
        for step in pattern.path:
            ends = self._step(ends, step)
        return ends

    def _step(self, starts: Sequence[str], step: Step) -> list[str]:
        found: dict[str, None] = dict.fromkeys(starts) if step.repeated == "*" else {}
        waiting, seen = list(starts), set(starts)
        while waiting:
            for row in self.rows(waiting.pop(), "outgoing", step.property):
                found.setdefault(row.far)
                if step.repeated and row.far not in seen:
                    seen.add(row.far)
                    waiting.append(row.far)
        return list(found)

    def _statement(self, pattern: Qualified, solution: Solution) -> Iterator[Solution]:
        subject = solution.get(pattern.subject, pattern.subject)
        value = None if pattern.value is None else solution.get(pattern.value, pattern.value)
        if not is_variable(subject):
            starts, direction = [subject], "outgoing"
        elif value is not None and not is_variable(value):
            starts, direction = [value], "incoming"
        else:
            known = [(name, solution.get(end, end)) for name, end in pattern.qualifiers]
            starts = sorted(
                {
                    head
                    for name, end in known
                    if not is_variable(end)
                    for head in self._qualified.get((pattern.property, name, end), ())
                }
            )
            direction = "outgoing"
        for start in starts:
            for row in self.rows(start, direction, pattern.property):
                ends = (start, row.far) if direction == "outgoing" else (row.far, start)
                found = {pattern.subject: ends[0], **({pattern.value: ends[1]} if pattern.value else {})}
                if all(
                    solution.get(term, term if not is_variable(term) else end) == end for term, end in found.items()
                ):
                    yield from self._qualifiers(row, pattern, {**solution, **found})

    def _qualifiers(self, row: Row, pattern: Qualified, solution: Solution) -> Iterator[Solution]:
        """The solutions in which a row's qualifiers match."""
        ways: list[Solution] = [solution]
        for name, end in pattern.qualifiers:
            values = qualifier_values(row.qualifiers, self._labels.get(name, name))
            ways = [
                way | ({end: value} if is_variable(end) else {})
                for way in ways
                for value in values
                if way.get(end, end if not is_variable(end) else value) == value
            ]
        for way in ways:
            yield {term: value for term, value in way.items() if is_variable(term)}

    def rows(self, entity: str, direction: str, name: str) -> tuple[Row, ...]:
        """The rows of a relation at an entity, after checking that the relation is offered there."""
        assert self._now is not None
        offered, looked = self._offered_relations(entity, direction)
        self._now.calls += looked
        if name not in offered:
            if name in self._has.get((entity, direction), ()):
                self._now.not_offered.append((entity, name))
            return ()
        key = (entity, direction, name)
        if key not in self._rows:
            found: list[Row] = []
            calls = 0
            arguments = {"entity": entity, "direction": direction, "properties_to_filter_for": [f"wdt:{name}"]}
            for page in pages(self._client, "search", arguments):
                calls += 1
                cells = page.column("qualifiers") or [""] * len(page.rows)
                ends = (value.removeprefix("wd:") for value in page.column("value"))
                found += [Row(far, cell) for far, cell in zip(ends, cells, strict=True)]
            self._rows[key] = tuple(found), calls
        self._now.calls += self._rows[key][1]
        return self._rows[key][0]

    def _offered_relations(self, entity: str, direction: str) -> tuple[frozenset[str], int]:
        """The relations that `search` shows at an entity, and the number of pages read."""
        key = (entity, direction)
        if key not in self._offered:
            names: set[str] = set()
            calls = 0
            for page in pages(self._client, "search", {"entity": entity, "direction": direction}):
                calls += 1
                names.update(name.removeprefix("wdt:") for name in page.column("property"))
            self._offered[key] = frozenset(names), calls
        return self._offered[key]


def qualifier_values(cell: str, label: str) -> list[str]:
    """The items in a qualifiers cell for a property, by the property's label."""
    found: list[str] = []
    for part in cell.split("; "):
        name, colon, value = part.partition(": ")
        match = re.search(r"\(?wd:(Q\d+)\)?$", value)
        if colon and name == label and match:
            found.append(match[1])
    return found


def _answers(query: Query, solutions: Iterable[Mapping[str, str]]) -> frozenset[str]:
    remaining = list(solutions)
    if query.excluded is not None:
        first, second = query.excluded
        remaining = [solution for solution in remaining if solution[first] != solution[second]]
    if query.counted:
        return frozenset([str(len({solution[query.variables[0]] for solution in remaining}))])
    return frozenset(solution[name] for solution in remaining for name in query.variables if name in solution)


def _cost(pattern: Pattern, bound: Iterable[str]) -> int:
    """A sort key for patterns: those that start at a known term come first, those that only filter last."""
    known = set(bound)

    def is_known(term: str | None) -> bool:
        return term is not None and (not is_variable(term) or term in known)

    ends = is_known(pattern.subject), is_known(pattern.value)
    if isinstance(pattern, Qualified):
        return 0 if any(ends) else 4
    walkable = ends[0] or (ends[1] and len(pattern.path) == 1)
    return 1 if walkable and pattern.path[0].property != "P31" else 2 if walkable else 5
