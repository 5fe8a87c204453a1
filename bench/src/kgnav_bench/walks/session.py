"""A connection to the server, as MCP clients have: relations, triples and ends of patterns, parsed from its answers."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, cast

from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters
from mcp_types import TextContent

from kgnav_bench.client import ToolFailedError, server_command
from kgnav_bench.tables import Table, parse
from kgnav_bench.walks.sharegpt import NamedEntity

Direction = Literal["outgoing", "incoming"]
OPPOSITE: Mapping[Direction, Direction] = {"outgoing": "incoming", "incoming": "outgoing"}

GET_RELATIONS, GET_TRIPLES = "get_relations", "get_triples"
AGENT_TOOLS = (GET_RELATIONS, GET_TRIPLES)
"""The agent's tools (section 2.1)."""

_TOOLSETS = "graphwalker,linking,plans"
_KEPT_ANSWERS = 20_000
"""Answers that are remembered: walks come by the same entities often."""
UNNAMED = ("", "(unnamed)")
"""Labels of values and of nodes without a name."""


class UnusableServerError(Exception):
    """The server cannot be used for walks. The message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class RelationRow:
    """A relation of some entities in one direction, with its number of triples and of the entities that have it."""

    relation: str
    label: str
    direction: Direction
    rows: int
    entities: int = 1


@dataclass(frozen=True, slots=True)
class Relations:
    """The relations that one answer shows."""

    rows: tuple[RelationRow, ...]
    characters: int = 0
    """Characters of the answer's text."""


@dataclass(frozen=True, slots=True)
class TripleRow:
    """One triple, with the labels of both ends."""

    head: NamedEntity
    relation: str
    tail: NamedEntity


@dataclass(frozen=True, slots=True)
class Triples:
    """The triples of one answer. `complete` is false if the server has more of them."""

    rows: tuple[TripleRow, ...]
    complete: bool
    characters: int = 0
    """Characters of the answer's text."""

    def ends(self, starts: Collection[str], relation: str, direction: Direction) -> dict[str, dict[str, str]]:
        """For each start with such triples, the other ends with their labels, by id.

        A relation that leads to a mediator is shown as the two-hop relations through it, which are other relations.
        """
        found: dict[str, dict[str, str]] = {}
        for row in self.rows:
            near, far = (row.head, row.tail) if direction == "outgoing" else (row.tail, row.head)
            if row.relation == relation and near.id in starts:
                found.setdefault(near.id, {})[far.id] = far.name
        return found


@dataclass(frozen=True, slots=True)
class Answered:
    """A tool's answer. Its text may be an error's."""

    text: str
    is_error: bool


T = TypeVar("T")


class Session:
    """A connected server. Calls may run concurrently; answers are cached."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._answers: OrderedDict[str, Answered] = OrderedDict()
        self._parsed: dict[str, Any] = {}
        self.calls = 0
        """Number of calls that were sent."""

    async def answer(self, tool: str, arguments: Mapping[str, object]) -> Answered:
        """The answer of a tool, from the cache if the same call was made before.

        Raises:
            UnusableServerError: the server ended, or refuses the request itself.
        """
        key = f"{tool} {json.dumps(arguments)}"
        kept = self._answers.get(key)
        if kept is not None:
            self._answers.move_to_end(key)
            return kept
        self.calls += 1
        try:
            result = await self._client.call_tool(tool, dict(arguments))
        except MCPError as error:
            raise UnusableServerError(f"The server did not answer {tool}: {error}. Start it again.") from error
        first = result.content[0]
        assert isinstance(first, TextContent)
        answered = Answered(first.text, bool(result.is_error))
        if not answered.is_error:
            self._answers[key] = answered
            if len(self._answers) > _KEPT_ANSWERS:
                self._answers.popitem(last=False)
        return answered

    async def text(self, tool: str, arguments: Mapping[str, object]) -> str:
        """The text of a tool's answer.

        Raises:
            ToolFailedError: the answer is an error.
        """
        answered = await self.answer(tool, arguments)
        if answered.is_error:
            raise ToolFailedError(answered.text)
        return answered.text

    async def tools(self) -> str:
        """The agent's tools as JSON: name, description and JSON Schema of the parameters.

        Raises:
            UnusableServerError: the server does not offer them.
        """
        offered = {tool.name: tool for tool in (await self._client.list_tools()).tools}
        missing = [name for name in (*AGENT_TOOLS, "run_plan", "describe_graph") if name not in offered]
        if missing:
            raise UnusableServerError(
                f"The server does not offer {', '.join(missing)}. Start it with --toolsets {_TOOLSETS}."
            )
        return json.dumps(
            [
                {"name": name, "description": offered[name].description, "parameters": offered[name].input_schema}
                for name in AGENT_TOOLS
            ],
            ensure_ascii=False,
        )

    async def rows(self, plan: str) -> list[tuple[str, ...]]:
        """The rows of a plan, on all pages."""
        rows: list[tuple[str, ...]] = []
        cursor: str | None = None
        while True:
            page = parse(await self.text("run_plan", {"plan": plan, **({"cursor": cursor} if cursor else {})}))
            rows += page.rows
            if (cursor := page.cursor) is None:
                return rows

    async def relation_counts(self) -> list[tuple[str, int]]:
        """The relations that the overview of the graph shows, with their numbers of triples, the largest first."""
        try:
            lines = (await self.text("describe_graph", {})).split("\n")
        except ToolFailedError as error:
            raise UnusableServerError(f"The graph's relations cannot be read: {error}") from error
        start = next((n for n, line in enumerate(lines) if line.startswith("relation|triples")), None)
        if start is None:
            raise UnusableServerError("The graph has no relations to walk along. Name another graph with --graph.")
        found: list[tuple[str, int]] = []
        for line in lines[start + 2 :]:
            cells = line.split("|")
            if len(cells) < 2 or not cells[1].replace(",", "").isdigit():
                break
            found.append((cells[0], _int(cells[1])))
        return found

    def _read(self, text: str, read: Callable[[str], T]) -> T:
        if text not in self._parsed:
            if len(self._parsed) > _KEPT_ANSWERS:
                self._parsed.clear()
            self._parsed[text] = read(text)
        return self._parsed[text]

    async def relations(self, entities: Sequence[str], question: str | None = None) -> Relations:
        """The relations of entities that the first page of the answer shows."""
        return self._read(await self.text(GET_RELATIONS, relations_arguments(entities, question)), read_relations)

    async def triples(self, entities: Sequence[str], relation: str) -> Triples:
        """The triples of a relation at entities, in either direction, that the first page of the answer shows."""
        return self._read(await self.text(GET_TRIPLES, triples_arguments(entities, [relation])), read_triples)


def relations_arguments(entities: Sequence[str], question: str | None) -> dict[str, object]:
    """The arguments of `get_relations`: one entity by itself, several as a list."""
    return {"entity": _one_or_list(entities), **({"question": question} if question else {})}


def triples_arguments(entities: Sequence[str], relations: Sequence[str]) -> dict[str, object]:
    """The arguments of `get_triples`."""
    return {"entity": _one_or_list(entities), "relations": list(relations)}


def _one_or_list(entities: Sequence[str]) -> str | list[str]:
    return entities[0] if len(entities) == 1 else list(entities)


def read_relations(text: str) -> Relations:
    """The relations in an answer of `get_relations`."""
    table = parse(text)
    columns = [table.column(name) for name in ("relation", "relationLabel", "direction", "rows")]
    entities = table.column("entities") or ["1"] * len(table.rows)
    rows = (
        RelationRow(
            relation, label, "incoming" if direction == "incoming" else "outgoing", _int(rows), _int(entity_count)
        )
        for relation, label, direction, rows, entity_count in zip(*columns, entities, strict=True)
    )
    return Relations(tuple(rows), len(text))


def read_triples(text: str) -> Triples:
    """The triples in an answer of `get_triples`."""
    table = parse(text)
    rows = tuple(
        TripleRow(NamedEntity(id=head, name=head_label), relation, NamedEntity(id=tail, name=tail_label))
        for head, head_label, relation, tail, tail_label in zip(*_triple_columns(table), strict=True)
    )
    return Triples(rows, table.exact and table.cursor is None and table.total == len(table.rows), len(text))


def _triple_columns(table: Table) -> list[list[str]]:
    return [table.column(name) for name in ("head", "headLabel", "relation", "tail", "tailLabel")]


def _int(text: str) -> int:
    return int(text.replace(",", ""))


@asynccontextmanager
async def connected(graph: str | None, server: str | None) -> AsyncGenerator[Session]:
    """Start a server of a graph as a child process, or connect to the one at an address.

    Raises:
        UnusableServerError: it cannot be started or reached.
    """
    if server is not None:
        target: StdioServerParameters | str = server
    else:
        command = [*server_command(graph), "--toolsets", _TOOLSETS]
        target = StdioServerParameters(command=command[0], args=command[1:])
    client = Client(target, mode="legacy") if server is None else Client(target)
    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(client)
        except (MCPError, OSError, ExceptionGroup) as error:
            reason: BaseException = error
            while isinstance(reason, BaseExceptionGroup):
                reason = cast("tuple[BaseException, ...]", reason.exceptions)[0]
            message = f"No server for {server or graph}: {reason}. Check it with: kgnav doctor"
            raise UnusableServerError(message) from error
        yield Session(client)
