"""The interface to a language model: messages and tools go in, one reply comes out."""

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
    """The messages are longer than the model's context."""


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
    """The endpoint's id of the call. The tool's answer names it."""
    tool: str
    arguments: Mapping[str, Any] | str
    """The text that the model wrote if it is not a JSON object."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Role
    text: str = ""
    calls: tuple[CallRequest, ...] = ()
    """What an assistant's message asks for."""
    call_id: str = ""
    """The call that a tool's message answers."""


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
    """It waits for the answers of its calls."""
    LENGTH = "length"
    """The reply was cut: the most tokens or the context is reached."""
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
        """The reply to these messages. None leaves a parameter to the endpoint.

        Raises:
            EndpointError: the endpoint does not answer after all retries, or refuses the request.
        """
        ...
