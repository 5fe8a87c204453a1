"""A server that plays a language model: it answers each request with the next turn of a script, in both APIs."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Call = tuple[str, "Mapping[str, Any] | str"]


@dataclass(frozen=True)
class Play:
    """One reply of the model, or one failure of its server."""

    text: str = ""
    calls: Sequence[Call] = ()
    """Tool and arguments: an object, or a text that need not be JSON."""
    finish: str = ""
    """As the OpenAI API names it: length, content_filter; empty for the usual one."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    wait: float = 0.0
    """Seconds before the reply."""
    cached: int = 0
    body: str | None = None
    """Sent as it stands in place of a reply."""


Script = Callable[[Mapping[str, Any]], Play]
"""The reply to a request's body."""


@dataclass
class ModelServer:
    """A running server, and the bodies of all requests that it got."""

    url: str
    requests: list[dict[str, Any]]
    headers: list[Mapping[str, str]]


@contextmanager
def model_server(script: Sequence[Play] | Script) -> Generator[ModelServer]:
    """Serve a script on the loopback interface: one play a request in turn, the last one again and again."""
    lock = threading.Lock()
    requests: list[dict[str, Any]] = []
    headers: list[Mapping[str, str]] = []

    def play(body: dict[str, Any]) -> Play:
        with lock:
            requests.append(body)
            number = len(requests)
        return script(body) if callable(script) else script[min(number, len(script)) - 1]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            headers.append(dict(self.headers.items()))
            reply = play(body)
            time.sleep(reply.wait)
            anthropic = self.path.endswith("/messages")
            text = reply.body if reply.body is not None else json.dumps(_response(reply, anthropic=anthropic))
            content = text.encode()
            try:
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the client did not wait

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Nothing: requests are kept in the list."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield ModelServer(f"http://127.0.0.1:{server.server_port}/v1", requests, headers)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _response(play: Play, *, anthropic: bool) -> dict[str, Any]:
    if play.status != 200:
        error = {"type": "api_error", "message": play.text or "scripted failure"}
        return {"type": "error", "error": error} if anthropic else {"error": error}
    return _anthropic(play) if anthropic else _openai(play)


def _openai(play: Play) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": play.text or None}
    if play.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": tool, "arguments": given if isinstance(given, str) else json.dumps(given)},
            }
            for number, (tool, given) in enumerate(play.calls)
        ]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted",
        "choices": [
            {"index": 0, "message": message, "finish_reason": play.finish or ("tool_calls" if play.calls else "stop")}
        ],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 10,
            "total_tokens": 110,
            "prompt_tokens_details": {"cached_tokens": play.cached},
        },
    }


_STOP_REASONS = {"length": "max_tokens", "content_filter": "refusal"}


def _anthropic(play: Play) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": play.text}] if play.text else []
    content += [
        {"type": "tool_use", "id": f"toolu_{number}", "name": tool, "input": given}
        for number, (tool, given) in enumerate(play.calls)
    ]
    reason = _STOP_REASONS.get(play.finish, "tool_use" if play.calls else "end_turn")
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": content,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 100 - play.cached,
            "output_tokens": 10,
            "cache_read_input_tokens": play.cached,
            "cache_creation_input_tokens": 0,
        },
    }
