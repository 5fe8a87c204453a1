"""A model behind either API: replies, calls, refusals, failures and retries, from a real server on this machine."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from kgnav_bench.endpoints import Provider, connect, provider_of
from kgnav_bench.models import CallRequest, ContextFullError, EndpointError, Finish, Message, Reply, Role, Tool
from kgnav_bench.records import Tokens
from tests.bench.model_server import ModelServer, Play, model_server

HELLO = (Message(Role.SYSTEM, "Be brief."), Message(Role.USER, "Hello"))
TOOL = Tool("search", "Search.", {"type": "object", "properties": {"entity": {"type": "string"}}})
BOTH = pytest.mark.parametrize("provider", list(Provider))


async def completed(
    server: ModelServer,
    provider: Provider,
    messages: Sequence[Message] = HELLO,
    *,
    retries: int = 2,
    request_timeout: float = 20.0,
    patience: float = 20.0,
    max_tokens: int | None = None,
) -> Reply:
    """The reply of a server's model."""
    async with connect(
        server.url,
        "scripted",
        provider=provider,
        retries=retries,
        request_timeout=request_timeout,
        patience=patience,
    ) as model:
        return await model.complete(messages, [TOOL], temperature=0.0, max_tokens=max_tokens, stop=["</answer>"])


@pytest.mark.slow
@BOTH
async def test_a_reply_has_its_text_and_its_tokens_with_cached_ones_among_those_of_the_prompt(provider: Provider):
    with model_server([Play("Hello!", cached=60)]) as server:
        reply = await completed(server, provider)
    assert (reply.text, reply.calls, reply.finish) == ("Hello!", (), Finish.DONE)
    assert reply.tokens == Tokens(prompt=100, completion=10, cached=60)
    assert reply.seconds > 0
    assert server.requests[0]["temperature"] == 0.0
    assert server.requests[0]["stop" if provider is Provider.OPENAI else "stop_sequences"] == ["</answer>"]


@BOTH
async def test_parallel_calls_and_their_answers_go_back_as_the_api_wants_them(provider: Provider):
    calls = [("search", {"entity": "Jaws"}), ("search", {"entity": "Alien"})]
    with model_server([Play("Two at once.", calls), Play("Done.")]) as server:
        first = await completed(server, provider)
        assert first.finish is Finish.CALLS
        assert [(call.tool, call.arguments) for call in first.calls] == calls
        answers = [Message(Role.TOOL, f"rows of {call.id}", call_id=call.id) for call in first.calls]
        done = await completed(server, provider, [*HELLO, Message(Role.ASSISTANT, first.text, first.calls), *answers])
    assert done.text == "Done."
    sent = server.requests[-1]["messages"]
    if provider is Provider.OPENAI:
        assert [each["role"] for each in sent] == ["system", "user", "assistant", "tool", "tool"]
        assert [each["tool_call_id"] for each in sent[3:]] == [call["id"] for call in sent[2]["tool_calls"]]
    else:
        assert [each["role"] for each in sent] == ["user", "assistant", "user"]
        assert server.requests[-1]["system"] == "Be brief."
        used = [block["id"] for block in sent[1]["content"] if block["type"] == "tool_use"]
        assert [block["tool_use_id"] for block in sent[2]["content"]] == used


@pytest.mark.parametrize("arguments", ['{"entity": ', '["Jaws"]', "Jaws"])
async def test_arguments_that_are_no_json_object_are_kept_as_text(arguments: str):
    with model_server([Play(calls=[("search", arguments)])]) as server:
        reply = await completed(server, Provider.OPENAI)
    assert [(call.tool, call.arguments) for call in reply.calls] == [("search", arguments)]


async def test_calls_with_unreadable_arguments_can_be_sent_back():
    call = CallRequest("toolu_1", "search", "{entity")
    talk = [*HELLO, Message(Role.ASSISTANT, calls=(call,)), Message(Role.TOOL, "not JSON", call_id="toolu_1")]
    with model_server([Play("Sorry.")]) as server:
        for provider in Provider:
            assert (await completed(server, provider, talk)).text == "Sorry."
    openai, anthropic = server.requests
    assert openai["messages"][2]["tool_calls"][0]["function"]["arguments"] == "{entity"
    assert anthropic["messages"][1]["content"][0]["input"] == {"unreadable": "{entity"}


@BOTH
@pytest.mark.parametrize(
    ("play", "finish"),
    [
        (Play("The capital of", finish="length"), Finish.LENGTH),
        (Play("I cannot help.", finish="content_filter"), Finish.REFUSED),
        (Play(""), Finish.DONE),
    ],
)
async def test_cut_refused_and_empty_replies_are_told_apart(provider: Provider, play: Play, finish: Finish):
    with model_server([play]) as server:
        reply = await completed(server, provider)
    assert (reply.text, reply.finish) == (play.text, finish)


@BOTH
@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_failure_that_passes_is_retried(provider: Provider, status: int):
    with model_server([Play(status=status, headers={"Retry-After": "0.01"}), Play("Back.")]) as server:
        assert (await completed(server, provider)).text == "Back."
    assert len(server.requests) == 2


@BOTH
@pytest.mark.parametrize(
    ("play", "message"),
    [
        (Play("slow down", status=429, headers={"Retry-After": "0.01"}), "limits the rate .*: slow down. Lower --conc"),
        (Play("broken", status=500, headers={"Retry-After": "0.01"}), "status 500: broken. Try again later"),
        (Play("no such model", status=404), "has no model 'scripted', .*: no such model. Check --model"),
        (Play("bad key", status=401), "does not accept the API key: bad key"),
        (Play("max_tokens: 99 > 9, the maximum of output tokens", status=400), "status 400: max_tokens: 99 > 9"),
        (Play(body="<html>"), "sent something that is not a reply|sent a response without"),
    ],
)
async def test_a_failure_that_stays_is_an_error_with_the_endpoints_reason(provider: Provider, play: Play, message: str):
    with model_server([play]) as server, pytest.raises(EndpointError, match=message):
        await completed(server, provider, retries=1)


@BOTH
@pytest.mark.parametrize(
    "said",
    [
        "This model's maximum context length is 8192 tokens. However, your messages have 9000",
        "prompt is too long: 208310 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 199000 + 4096 > 200000",
        "Requested tokens (2116) exceed context window of 2048",
        "the request exceeds the available context size, try increasing it",
    ],
)
async def test_a_conversation_longer_than_the_context_is_told_apart(provider: Provider, said: str):
    with model_server([Play(said, status=400)]) as server, pytest.raises(ContextFullError, match=re.escape(said)):
        await completed(server, provider)


async def test_what_utf_8_cannot_write_is_no_argument_and_is_replaced_in_texts():
    with model_server(
        [Play("half \ud83d a pair", [("search", '{"entity": "\\ud83d"}'), ("search", '{"n": NaN}')])]
    ) as server:
        reply = await completed(server, Provider.OPENAI)
    assert reply.text == "half \ufffd a pair"
    assert [call.arguments for call in reply.calls] == ['{"entity": "\\ud83d"}', '{"n": NaN}']


@pytest.mark.parametrize("body", ['{"choices": [{"index": 0}]}', '{"choices": [{"message": {"content": 5}}]}', "[]"])
async def test_a_response_of_another_form_is_an_error(body: str):
    with model_server([Play(body=body)]) as server, pytest.raises(EndpointError, match="sent"):
        await completed(server, Provider.OPENAI)


@BOTH
async def test_waiting_is_bounded_whatever_the_endpoint_asks_for(provider: Provider):
    script = [Play("wait", status=429, headers={"Retry-After": "100"})]
    with model_server(script) as server, pytest.raises(EndpointError, match="did not answer in time"):
        await completed(server, provider, patience=0.3)


@BOTH
async def test_a_reply_that_does_not_come_is_an_error(provider: Provider):
    with model_server([Play("late", wait=0.6)]) as server, pytest.raises(EndpointError, match="in time"):
        await completed(server, provider, retries=0, request_timeout=0.1)


@BOTH
async def test_an_endpoint_that_is_down_is_named(provider: Provider):
    with model_server([Play()]) as server:
        pass
    with pytest.raises(EndpointError, match=r"http://127.* cannot be reached: .*Check that the model is served"):
        await completed(server, provider, retries=0)


@pytest.mark.parametrize(("host", "variable"), [("api.openai.com/v1", "OPENAI"), ("api.anthropic.com", "ANTHROPIC")])
async def test_a_public_endpoint_needs_a_key(monkeypatch: pytest.MonkeyPatch, host: str, variable: str):
    monkeypatch.delenv(f"{variable}_API_KEY", raising=False)
    with pytest.raises(EndpointError, match=f"{variable}_API_KEY is not set"):
        async with connect(f"https://{host}", "m"):
            pass


async def test_a_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret-1")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret-2")
    with model_server([Play("Hi")]) as server:
        for provider in Provider:
            await completed(server, provider)
    for secret, headers in zip(("secret-1", "secret-2"), server.headers, strict=True):
        assert any(secret in value for value in headers.values())


async def test_an_address_that_is_none_is_refused():
    with pytest.raises(EndpointError, match="is not the address of an API"):
        async with connect("localhost:8000", "m"):
            pass


def test_the_api_is_known_by_the_host():
    assert provider_of("https://api.anthropic.com") is Provider.ANTHROPIC
    assert provider_of("http://localhost:8000/v1") is Provider.OPENAI
