"""Checks that an agent names only what it was shown: in its calls, in its thoughts and in its answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence

from kgnav_bench.tables import Table, UnreadableAnswerError, parse
from kgnav_bench.walks.actions import Turn, UnreadableActionError, observation_text, read_turn
from kgnav_bench.walks.session import UNNAMED
from kgnav_bench.walks.sharegpt import Conversation, NamedEntity, Sender

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_ENTITY_COLUMNS = ("entity", "head", "headLabel", "tail", "tailLabel")
_RELATION_COLUMNS = ("relation", "relationLabel")
_SHORTEST_LEAK = 4
"""Shorter names may be words of any text."""


class Shown:
    """The ids and names of entities, and the relations, in the messages so far."""

    def __init__(self, topics: Iterable[NamedEntity]) -> None:
        self.entities = {text for topic in topics for text in (topic.id, topic.name)}
        self.relations = set[str]()

    def read(self, observation: str) -> None:
        """Add an observation. One that is not a table shows nothing."""
        entities, relations = names_in(observation)
        self.entities |= entities
        self.relations |= relations


def names_in(observation: str) -> tuple[set[str], set[str]]:
    """The ids and names of entities, and the relations, in an observation."""
    try:
        table = parse(observation)
    except UnreadableAnswerError:
        return set(), set()
    return _cells(table, _ENTITY_COLUMNS), _cells(table, _RELATION_COLUMNS)


def _cells(table: Table, columns: Sequence[str]) -> set[str]:
    return {cell for column in columns for cell in table.column(column)} - set(UNNAMED)


def ungrounded(conversation: Conversation) -> Iterator[str]:
    """What an agent's messages name before it was shown. Messages without an action are ignored."""
    shown = Shown(conversation.metadata.topics)
    later = _distinctive_names(conversation)
    for message in conversation.conversations:
        if message.sender is Sender.OBSERVATION:
            try:
                shown.read(observation_text(message.value))
            except UnreadableActionError as error:
                yield str(error)
        elif message.sender is Sender.GPT:
            try:
                turn = read_turn(message.value)
            except UnreadableActionError:
                continue
            yield from _in_turn(turn, shown, later)


def _in_turn(turn: Turn, shown: Shown, later: dict[str, re.Pattern[str]]) -> Iterator[str]:
    if turn.call is not None:
        yield from (f"the call names the entity {each!r}" for each in turn.call.entities if each not in shown.entities)
        yield from (
            f"the call names the relation {each!r}" for each in turn.call.relations if each not in shown.relations
        )
    for each in turn.answer or ():
        if each not in shown.entities:
            yield f"the answer names {each!r}"
    seen = shown.entities | shown.relations
    for quote in _QUOTED.findall(turn.thought):
        name = _unquoted(quote)
        if name not in seen:
            yield f"the thought names {name!r}"
    plain = _QUOTED.sub("", turn.thought)
    for name, found in later.items():
        if name in plain and name not in seen and found.search(plain):
            yield f"the thought names {name!r}"


def _distinctive_names(conversation: Conversation) -> dict[str, re.Pattern[str]]:
    """The names in all observations that no text has by chance: long ones, with more than small letters."""
    names = set[str]()
    for message in conversation.conversations:
        if message.sender is Sender.OBSERVATION:
            entities, relations = names_in(message.value.removeprefix("<information>\n"))
            names |= entities | relations
    distinctive = (name for name in names if len(name) >= _SHORTEST_LEAK and not name.replace(" ", "").islower())
    return {name: re.compile(rf"(?<!\w){re.escape(name)}(?!\w)") for name in distinctive}


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        return text[1:-1]
