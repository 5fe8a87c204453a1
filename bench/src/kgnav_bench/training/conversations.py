"""Reads conversations in ShareGPT's form as messages of a chat template.

A line is an object with `conversations`: objects with `from` (system, human, gpt or observation) and `value`.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Literal, TypedDict, cast


class UnreadableConversationsError(Exception):
    """A line of the file is not a conversation to train on. The message has its number and the reason."""


class Message(TypedDict):
    """A message as chat templates take it."""

    role: str
    content: str


Conversation = Sequence[Message]

_ROLES: Final = {"system": "system", "human": "user", "gpt": "assistant"}


def read_conversations(path: Path, observation_role: Literal["user", "tool"] = "user") -> Iterator[Conversation]:
    """The conversations of a JSON Lines file, which may be gzipped (`.gz`). Empty lines are skipped.

    Raises:
        UnreadableConversationsError: a line is not a conversation, or has no text to learn.
    """
    opened = gzip.open if path.suffix == ".gz" else open
    number = 0
    try:
        with opened(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):  # noqa: B007 - the error names it
                if line.strip():
                    yield _conversation(json.loads(line), observation_role)
    except (ValueError, gzip.BadGzipFile, EOFError) as error:
        reason = f"it is not JSON ({error.msg})" if isinstance(error, json.JSONDecodeError) else str(error)
        raise UnreadableConversationsError(
            f"line {max(number, 1)} of {path} is not a conversation: {reason}. "
            'A line is {"conversations": [{"from": "human", "value": "..."}, {"from": "gpt", "value": "..."}]}.'
        ) from error


def _conversation(line: Any, observation_role: str) -> Conversation:  # noqa: ANN401 - any JSON
    turns = cast("dict[str, Any]", line).get("conversations") if isinstance(line, dict) else None
    if not isinstance(turns, list):
        raise ValueError("it has no list 'conversations'")  # noqa: TRY004 - the content is wrong, not a type of ours
    messages = [_message(turn, observation_role) for turn in cast("list[Any]", turns)]
    roles = [message["role"] for message in messages]
    spoken = roles[1:] if roles[:1] == ["system"] else roles
    if (
        not spoken
        or len(spoken) % 2
        or any((role == "assistant") != bool(place % 2) for place, role in enumerate(spoken))
        or "system" in spoken
    ):
        raise ValueError("after the system's text, human or observation and gpt must take turns, and gpt must end it")
    return messages


def _message(turn: Any, observation_role: str) -> Message:  # noqa: ANN401 - any JSON
    known = {**_ROLES, "observation": observation_role}
    given = cast("dict[str, Any]", turn) if isinstance(turn, dict) else {}
    role, text = given.get("from"), given.get("value")
    if role not in known or not isinstance(text, str):
        raise ValueError(
            f"a turn needs 'from', one of {', '.join(known)}, and 'value', a text; one is "
            f"{json.dumps(turn, ensure_ascii=False)[:80]}"
        )
    if role == "gpt" and not text.strip():
        raise ValueError("a turn of gpt is empty")
    return {"role": known[role], "content": text}
