"""The agent's messages in GraphWalker's form: a thought, and a tool call or an answer (section 2.1)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from kgnav_bench.walks.session import GET_RELATIONS, GET_TRIPLES, relations_arguments, triples_arguments

_THOUGHT = re.compile(r"<think>(.*?)</think>", re.DOTALL)
_QUERY = re.compile(r"<kg-query>\s*(\w+)\s*\((.*?)\)\s*</kg-query>", re.DOTALL)
_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
_INFORMATION = re.compile(r"<information>\n(.*)\n</information>", re.DOTALL)


class UnreadableActionError(ValueError):
    """The text has no action in the required form. The message, which the agent reads, says what is wrong."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool."""

    tool: str
    entities: tuple[str, ...]
    relations: tuple[str, ...] = ()

    def arguments(self, question: str | None) -> Mapping[str, object]:
        """The arguments for the server. A question ranks the relations of `get_relations`."""
        if self.tool == GET_RELATIONS:
            return relations_arguments(self.entities, question)
        return triples_arguments(self.entities, self.relations)

    def __str__(self) -> str:
        """The call as the agent writes it."""
        entity = _json(self.entities[0] if len(self.entities) == 1 else list(self.entities))
        return f"{self.tool}({entity}, {_json(list(self.relations))})" if self.relations else f"{self.tool}({entity})"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of the agent. Exactly one of `call` and `answer` is set."""

    thought: str
    call: Call | None = None
    answer: tuple[str, ...] | None = None


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def written(thought: str, action: Call | Iterable[str]) -> str:
    """The text of an agent's message: its thought, and a call or the names of the answers."""
    done = f"<kg-query>{action}</kg-query>" if isinstance(action, Call) else f"<answer>{_json(list(action))}</answer>"
    return f"<think>{thought}</think>\n{done}"


def observed(text: str) -> str:
    """The text of a message with the server's answer."""
    return f"<information>\n{text}\n</information>"


def observation_text(message: str) -> str:
    """The server's answer in such a message.

    Raises:
        UnreadableActionError: the message does not have this form.
    """
    match = _INFORMATION.fullmatch(message)
    if match is None:
        raise UnreadableActionError("the observation is not in <information></information>")
    return match[1]


def read_turn(message: str) -> Turn:
    """Parse the thought and the action of an agent's message. The last query or answer counts.

    Raises:
        UnreadableActionError: it has neither a call nor an answer in the required form.
    """
    thought = "\n".join(each.strip() for each in _THOUGHT.findall(message))
    rest = _THOUGHT.sub("", message)
    queries, answers = list(_QUERY.finditer(rest)), list(_ANSWER.finditer(rest))
    if answers and (not queries or answers[-1].start() > queries[-1].start()):
        return Turn(thought, answer=_answer(answers[-1][1]))
    if not queries:
        raise UnreadableActionError(
            'write one <kg-query>get_relations("entity")</kg-query>, '
            '<kg-query>get_triples("entity", ["relation"])</kg-query> or <answer>["name"]</answer>'
        )
    return Turn(thought, call=_call(queries[-1][1], queries[-1][2]))


def _answer(text: str) -> tuple[str, ...]:
    names = _strings(_parsed(text))
    if names is None:
        raise UnreadableActionError('the answer is a JSON list of names: <answer>["name"]</answer>')
    return names


def _call(tool: str, text: str) -> Call:
    arguments = _parsed(f"[{text}]")
    given: list[object] = cast("list[object]", arguments) if isinstance(arguments, list) else []
    entities = _strings([given[0]] if given and isinstance(given[0], str) else given[0] if given else None)
    if tool == GET_RELATIONS and len(given) == 1 and entities:
        return Call(tool, entities)
    relations = _strings(given[1]) if len(given) == 2 else None
    if tool == GET_TRIPLES and entities and relations:
        return Call(tool, entities, relations)
    raise UnreadableActionError(
        f'{tool}(...) is not a call that can be made. Write get_relations("entity") or '
        'get_triples("entity", ["relation"]), with strings as in JSON'
    )


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _strings(value: object) -> tuple[str, ...] | None:
    """The strings of a list; None if it is not a list of strings, or is empty."""
    items: Sequence[Any] = cast("list[Any]", value) if isinstance(value, list) else ()
    return tuple(items) if items and all(isinstance(each, str) for each in items) else None
