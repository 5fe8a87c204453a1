"""Models behind an address: any OpenAI-compatible chat completions API, and Anthropic's messages API.

Both use the official packages, which the extra `models` installs. API keys are read from the environment only:
OPENAI_API_KEY or ANTHROPIC_API_KEY. An endpoint on this machine needs none.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from enum import StrEnum
from inspect import isawaitable
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from kgnav_bench.models import CallRequest, ContextFullError, EndpointError, Finish, Message, Model, Reply, Role, Tool
from kgnav_bench.records import Tokens

if TYPE_CHECKING:
    from collections.abc import Generator

    from anthropic import AsyncAnthropic
    from openai import AsyncOpenAI

RETRIES = 5
"""Default number of times that a request is repeated after status 408, 409, 429, 5xx or a broken connection."""
TIMEOUT = 300.0
"""Default time limit of one request in seconds."""
PATIENCE = 1200.0
"""Default time limit in seconds of a request with its retries and the waiting that `Retry-After` asks for."""
MAX_TOKENS = 4096
"""Default maximum number of tokens of a reply. Anthropic's API requires a number."""

_PIP = "pip install 'kgnav-bench[models]'"
_TOO_LONG_STATUS = frozenset({400, 413, 422, 500})
_TOO_LONG = re.compile(r"maximum context length|prompt is too long|context (limit|window|size)", re.IGNORECASE)
"""What OpenAI, Anthropic, vLLM and llama.cpp say of a prompt that is longer than the context."""
_REASON = 300
"""Maximum characters of an endpoint's own message in ours."""


class Provider(StrEnum):
    """The API that an endpoint speaks."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"


def provider_of(url: str) -> Provider:
    """The API of an endpoint: Anthropic's if the host name says so, otherwise OpenAI's."""
    return Provider.ANTHROPIC if "anthropic" in (urlsplit(url).hostname or "") else Provider.OPENAI


@asynccontextmanager
async def connect(
    url: str,
    model: str,
    *,
    provider: Provider | None = None,
    retries: int = RETRIES,
    request_timeout: float = TIMEOUT,
    patience: float = PATIENCE,
) -> AsyncGenerator[Model]:
    """A model by the address of its API, such as `http://localhost:8000/v1` or `https://api.anthropic.com`.

    Args:
        url: The part of the address before `/chat/completions` or `/v1/messages`.
        model: The model's name at this endpoint.
        provider: The API; None: by the host name.
        retries: How often a failed request is repeated.
        request_timeout: Seconds for one request.
        patience: Seconds for a request with its retries and the waiting that the endpoint asks for.

    Raises:
        EndpointError: the packages are not installed, or a key is needed and missing.
    """
    if urlsplit(url).scheme not in {"http", "https"}:
        raise EndpointError(f"{url!r} is not the address of an API. Give one such as http://localhost:8000/v1.")
    if (provider or provider_of(url)) is Provider.ANTHROPIC:
        anthropic = _package("anthropic")
        key = os.environ.get("ANTHROPIC_API_KEY") or _no_key(url, "ANTHROPIC_API_KEY")
        async with anthropic.AsyncAnthropic(
            base_url=url.removesuffix("/v1"), api_key=key, max_retries=retries, timeout=request_timeout
        ) as client:
            yield _AnthropicModel(client, anthropic, url, model, patience)
    else:
        openai = _package("openai")
        key = os.environ.get("OPENAI_API_KEY") or _no_key(url, "OPENAI_API_KEY")
        async with openai.AsyncOpenAI(
            base_url=url, api_key=key, max_retries=retries, timeout=request_timeout
        ) as client:
            yield _OpenAIModel(client, openai, url, model, patience)


def _package(name: str) -> Any:  # noqa: ANN401 - a module that may be missing
    from importlib import import_module  # noqa: PLC0415 - `kgnav-bench --help` needs no model

    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise EndpointError(f"The package {name} is not installed. Install it: {_PIP}") from error


def _no_key(url: str, variable: str) -> str:
    """A text in place of a key, for an endpoint that is not a public one.

    Raises:
        EndpointError: the endpoint is a provider's own.
    """
    if (urlsplit(url).hostname or "").endswith((".openai.com", ".anthropic.com")):
        raise EndpointError(f"{url} needs a key, and {variable} is not set. Set it: export {variable}=...")
    return "none"


class _EndpointModel:
    """What both kinds of endpoint have in common: the limit of time, and messages about failures."""

    def __init__(self, package: ModuleType, url: str, model: str, patience: float) -> None:
        self._package: Any = package
        self._url = url
        self._name = model
        self._patience = patience

    @property
    def name(self) -> str:
        return self._name

    async def _request(self, create: Callable[..., Any], parameters: Mapping[str, Any]) -> Reply:
        """The reply to a request.

        Raises:
            EndpointError: there is none after all retries, or the endpoint refuses the request.
        """
        with self._explained():
            async with asyncio.timeout(self._patience):
                raw = await create(**parameters)
                parsed = raw.parse()  # awaitable in one of the two packages
                response = await parsed if isawaitable(parsed) else parsed
        try:
            return self._reply(response, raw.elapsed.total_seconds())
        except (AttributeError, TypeError, LookupError, ValueError) as error:  # the packages check no types
            raise EndpointError(f"{self._url} sent something that is not a reply: {str(response)[:_REASON]}") from error

    def _reply(self, response: Any, seconds: float) -> Reply:  # noqa: ANN401 - servers differ from the package's types
        raise NotImplementedError

    @contextmanager
    def _explained(self) -> Generator[None]:
        api = self._package
        try:
            yield
        except api.AuthenticationError as error:
            raise self._error("does not accept the API key", error, "Check the key in the environment.") from error
        except api.NotFoundError as error:
            raise self._error(
                f"has no model {self._name!r}, or no API at this address", error, "Check --model and --url."
            ) from error
        except api.RateLimitError as error:
            raise self._error(
                "still limits the rate of requests after all retries", error, "Lower --concurrency."
            ) from error
        except (api.APITimeoutError, TimeoutError) as error:
            raise EndpointError(
                f"{self._url} did not answer in time. Try again, or with a longer --timeout."
            ) from error
        except api.APIConnectionError as error:
            reason = error.__cause__ or error
            raise EndpointError(f"{self._url} cannot be reached: {reason}. Check that the model is served.") from error
        except api.APIStatusError as error:
            if error.status_code in _TOO_LONG_STATUS and _TOO_LONG.search(_message(error)):
                raise ContextFullError(f"{self._url}: {_message(error)[:_REASON]}") from error
            advice = "Try again later." if error.status_code >= 500 else "Check the arm's settings and the model."
            raise self._error(f"refuses the request with status {error.status_code}", error, advice) from error
        except (api.APIError, ValueError) as error:
            raise EndpointError(f"{self._url} sent something that is not a reply: {str(error)[:_REASON]}") from error

    def _error(self, problem: str, error: Any, advice: str) -> EndpointError:  # noqa: ANN401 - of either package
        return EndpointError(f"{self._url} {problem}: {_message(error)[:_REASON]}. {advice}")


def _message(error: Any) -> str:  # noqa: ANN401 - of either package
    """The endpoint's own message."""
    body: object = error.body
    if isinstance(body, Mapping):
        inner = cast("Mapping[str, object]", body)
        nested = inner.get("error")
        if isinstance(nested, Mapping):
            inner = cast("Mapping[str, object]", nested)
        if "message" in inner:
            return str(inner["message"]).rstrip(". ")
    return str(error.message).rstrip(". ")


def _text(text: str) -> str:
    """The text of a reply. Half a surrogate pair, which UTF-8 has not, is replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _arguments(text: str) -> Mapping[str, Any] | str:
    """Arguments of a call; the text itself if it is not a JSON object, or cannot be written as one in UTF-8."""
    try:
        parsed: object = json.loads(text or "{}")
        json.dumps(parsed, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return text
    return cast("Mapping[str, Any]", parsed) if isinstance(parsed, dict) else text


class _OpenAIModel(_EndpointModel):
    """A model behind the chat completions API."""

    def __init__(self, client: AsyncOpenAI, package: ModuleType, url: str, model: str, patience: float) -> None:
        super().__init__(package, url, model, patience)
        self._client = client

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        *,
        temperature: float | None = None,
        max_tokens: int | None = None,
        stop: Sequence[str] = (),
    ) -> Reply:
        parameters: dict[str, Any] = {"model": self._name, "messages": [_openai_message(each) for each in messages]}
        if tools:
            parameters["tool_choice"] = "auto"  # the default of the API, which llama-cpp-python does not know
            parameters["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": dict(tool.input_schema),
                    },
                }
                for tool in tools
            ]
        if temperature is not None:
            parameters["temperature"] = temperature
        if max_tokens is not None:
            parameters[self._limit] = max_tokens
        if stop:
            parameters["stop"] = list(stop)
        return await self._request(self._client.chat.completions.with_raw_response.create, parameters)

    @property
    def _limit(self) -> str:
        """OpenAI's own models refuse the older name of the parameter, most other servers know only that."""
        own = (urlsplit(self._url).hostname or "").endswith("openai.com")
        return "max_completion_tokens" if own else "max_tokens"

    def _reply(self, response: Any, seconds: float) -> Reply:  # noqa: ANN401 - servers differ from the package's types
        if not getattr(response, "choices", None):
            raise EndpointError(f"{self._url} sent a response without choices: {str(response)[:_REASON]}")
        choice = response.choices[0]
        message = choice.message
        calls = tuple(
            CallRequest(
                call.id or f"call_{number}", call.function.name or "", _arguments(call.function.arguments or "")
            )
            for number, call in enumerate(message.tool_calls or ())
        )
        refusal = getattr(message, "refusal", None)
        if refusal or choice.finish_reason == "content_filter":
            finish = Finish.REFUSED
        elif choice.finish_reason == "length":
            finish = Finish.LENGTH
        else:
            finish = Finish.CALLS if calls else Finish.DONE
        usage = response.usage
        details = getattr(usage, "prompt_tokens_details", None)
        tokens = Tokens(
            prompt=getattr(usage, "prompt_tokens", 0) or 0,
            completion=getattr(usage, "completion_tokens", 0) or 0,
            cached=getattr(details, "cached_tokens", 0) or 0,
        )
        return Reply(_text(message.content or refusal or ""), calls, finish, tokens, seconds)


def _openai_message(message: Message) -> dict[str, Any]:
    if message.role is Role.TOOL:
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    written: dict[str, Any] = {"role": message.role.value, "content": message.text}
    if message.calls:
        written["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.tool,
                    "arguments": call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments),
                },
            }
            for call in message.calls
        ]
    return written


class _AnthropicModel(_EndpointModel):
    """A model behind Anthropic's messages API."""

    def __init__(self, client: AsyncAnthropic, package: ModuleType, url: str, model: str, patience: float) -> None:
        super().__init__(package, url, model, patience)
        self._client = client

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        *,
        temperature: float | None = None,
        max_tokens: int | None = None,
        stop: Sequence[str] = (),
    ) -> Reply:
        system = "\n\n".join(message.text for message in messages if message.role is Role.SYSTEM)
        parameters: dict[str, Any] = {
            "model": self._name,
            "max_tokens": max_tokens or MAX_TOKENS,
            "messages": _anthropic_messages([each for each in messages if each.role is not Role.SYSTEM]),
        }
        if system:
            parameters["system"] = system
        if tools:
            parameters["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": dict(tool.input_schema)}
                for tool in tools
            ]
        if temperature is not None:
            # The package no longer knows it, and newer models refuse it, which the endpoint's own message says.
            parameters["extra_body"] = {"temperature": temperature}
        if stop:
            parameters["stop_sequences"] = list(stop)
        return await self._request(self._client.messages.with_raw_response.create, parameters)

    def _reply(self, response: Any, seconds: float) -> Reply:  # noqa: ANN401 - servers differ from the package's types
        return _anthropic_reply(response, seconds)


_ANTHROPIC_FINISH: Mapping[str, Finish] = {
    "max_tokens": Finish.LENGTH,
    "model_context_window_exceeded": Finish.LENGTH,
    "refusal": Finish.REFUSED,
}


def _anthropic_reply(response: Any, seconds: float) -> Reply:  # noqa: ANN401 - servers differ from the package's types
    text = _text("".join(block.text for block in response.content if block.type == "text"))
    calls = tuple(
        CallRequest(block.id, block.name, _arguments(json.dumps(block.input)))
        for block in response.content
        if block.type == "tool_use"
    )
    usage = response.usage
    cached = usage.cache_read_input_tokens or 0
    tokens = Tokens(
        prompt=usage.input_tokens + cached + (usage.cache_creation_input_tokens or 0),
        completion=usage.output_tokens,
        cached=cached,
    )
    finish = _ANTHROPIC_FINISH.get(response.stop_reason, Finish.CALLS if calls else Finish.DONE)
    return Reply(text, calls, finish, tokens, seconds)


def _anthropic_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Messages of alternating roles: results of tools are the user's, and empty texts are not allowed."""
    written: list[dict[str, Any]] = []
    for message in messages:
        role = "assistant" if message.role is Role.ASSISTANT else "user"
        blocks = _anthropic_blocks(message)
        if written and written[-1]["role"] == role:
            written[-1]["content"] += blocks
        else:
            written.append({"role": role, "content": blocks})
    return written


def _anthropic_blocks(message: Message) -> list[dict[str, Any]]:
    if message.role is Role.TOOL:
        return [{"type": "tool_result", "tool_use_id": message.call_id, "content": message.text}]
    blocks: list[dict[str, Any]] = [
        {
            "type": "tool_use",
            "id": call.id,
            "name": call.tool,
            "input": {"unreadable": call.arguments} if isinstance(call.arguments, str) else dict(call.arguments),
        }
        for call in message.calls
    ]
    if message.text.strip() or not blocks:
        blocks.insert(0, {"type": "text", "text": message.text.strip() or "(empty)"})
    return blocks
