"""Arms: what answers the questions, given a client of the server, the schema and a question."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Protocol

from kgnav_bench.client import ToolFailedError
from kgnav_bench.graphwalk.graphs import Schema
from kgnav_bench.graphwalk.questions import Question
from kgnav_bench.tables import parse


class Tools(Protocol):
    """A client of the server."""

    def call(self, tool: str, arguments: Mapping[str, object]) -> str:
        """The text of a tool's answer.

        Raises:
            ToolFailedError: the answer is an error.
        """
        ...


class Counted:
    """Counts the calls of a client."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self.calls = 0

    def call(self, tool: str, arguments: Mapping[str, object]) -> str:
        """As `Tools.call`."""
        self.calls += 1
        return self._tools.call(tool, arguments)


class NoTools:
    """A client for arms that must answer without tools."""

    def call(self, tool: str, arguments: Mapping[str, object]) -> str:
        """Always raises ToolFailedError."""
        raise ToolFailedError(f"{tool}({arguments}) was called where there are no tools")


class Arm(Protocol):
    """Answers questions with the tools of a server."""

    name: str
    toolsets: Sequence[str]
    """The toolsets of the server that this arm needs."""

    def answer(self, tools: Tools, schema: Schema, question: Question) -> str:
        """The final output, in the form that the question's instruction asks for."""
        ...


class PlanArm:
    """Runs the template's Cypher by `run_plan`: one plan for each question, and one more call for each further page."""

    name = "script"
    toolsets: Sequence[str] = ("plans",)

    def answer(self, tools: Tools, schema: Schema, question: Question) -> str:
        del schema
        rows = every_row(tools, "run_plan", {"plan": question.cypher}, tuple(question.fields))
        return output(question, rows[:1] if question.template.one_answer else rows)


def every_row(
    tools: Tools, tool: str, arguments: Mapping[str, object], columns: Sequence[str]
) -> list[tuple[str, ...]]:
    """These columns of all pages of an answer. A column that the answer lacks is empty."""
    rows: list[tuple[str, ...]] = []
    while True:
        page = parse(tools.call(tool, arguments))
        cells = [page.column(name) or [""] * len(page.rows) for name in columns]
        rows += zip(*cells, strict=True)
        if page.cursor is None:
            return rows
        arguments = {**arguments, "cursor": page.cursor}


def output(question: Question, rows: Sequence[Sequence[object]]) -> str:
    """Rows as JSON in the question's form."""
    fields = question.fields
    return json.dumps(
        [
            {
                name: float(str(value)) if kind == "number" else value
                for (name, kind), value in zip(fields.items(), row, strict=True)
            }
            for row in rows
        ]
    )
