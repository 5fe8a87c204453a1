"""The interface to a language model: it takes messages and tools, and returns one reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from kgnav_bench.records import Tokens


class EndpointError(Exception):
    """The request to the model failed: the endpoint does not answer, or refuses it. The message says which."""


class ServerFailedError(Exception):
    """The server of the graph does not answer, or ended."""


class ContextFullError(EndpointError):
    """The messages exceed the model's context."""


class Role(StrEnum):
    """Who wrote a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class CallRequest:
    """A call of a tool that a model asks for."""

    id: str
    """The endpoint's id of the call. The message with the tool's answer refers to it."""
    tool: str
    arguments: Mapping[str, Any] | str
    """The arguments or, if the model did not write a JSON object, its text."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Role
    text: str = ""
    calls: tuple[CallRequest, ...] = ()
    """The tool calls that an assistant's message requests."""
    call_id: str = ""
    """The id of the call that a tool's message answers."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as a model sees it."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    """JSON Schema of the arguments."""


class Finish(StrEnum):
    """Why a model stopped."""

    DONE = "done"
    CALLS = "calls"
    """It waits for the answers of its tool calls."""
    LENGTH = "length"
    """The reply was cut at the maximum number of tokens or the end of the context."""
    REFUSED = "refused"
    """The model or a content filter declined."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model replied to one request."""

    text: str
    calls: tuple[CallRequest, ...] = ()
    finish: Finish = Finish.DONE
    tokens: Tokens = field(default_factory=Tokens)
    seconds: float = 0.0
    """Time from the request that succeeded to its complete reply, without retries."""


class Model(Protocol):
    """A language model. Several requests may run concurrently."""

    @property
    def name(self) -> str:
        """The model's name at its endpoint."""
        ...

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        *,
        temperature: float | None = None,
        max_tokens: int | None = None,
        stop: Sequence[str] = (),
    ) -> Reply:
        """The reply to these messages. A parameter that is None is left to the endpoint.

        Raises:
            EndpointError: the endpoint does not answer after all retries, or refuses the request.
        """
        ...
