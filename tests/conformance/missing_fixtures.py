"""The scenarios that cannot pass against the product, and why: they call tools, prompts and resources of a test server.

The same scenarios pass against the product with these fixtures mounted (`server.py`). A scenario with a check's id
behind it lacks the fixture of this check only.
"""

from __future__ import annotations

from collections.abc import Mapping

_TOOL = "need a tool that a knowledge graph's server has no use for"
_PROMPT = "need a prompt of the suite's own"
_RESOURCE = "need a resource of the suite's own"
_CLIENT_REQUEST = "need a tool or prompt that asks the client for input, which this server never does"
_UNDECLARED = "need logging or subscriptions, which this server does not declare"

_BOTH = {
    **dict.fromkeys(
        (
            "json-schema-2020-12",
            "tools-call-audio",
            "tools-call-embedded-resource",
            "tools-call-error",
            "tools-call-image",
            "tools-call-mixed-content",
            "tools-call-simple-text",
            "tools-call-with-progress",
        ),
        _TOOL,
    ),
    **dict.fromkeys(
        ("prompts-get-embedded-resource", "prompts-get-simple", "prompts-get-with-args", "prompts-get-with-image"),
        _PROMPT,
    ),
    **dict.fromkeys(("resources-read-binary", "resources-read-text", "resources-templates-read"), _RESOURCE),
}

HANDSHAKE: Mapping[str, str] = {
    **_BOTH,
    "server-sse-polling/server-sse-disconnect-resume": _TOOL,
    **dict.fromkeys(
        (
            "elicitation-sep1034-defaults",
            "elicitation-sep1330-enums",
            "tools-call-elicitation",
            "tools-call-sampling",
        ),
        _CLIENT_REQUEST,
    ),
    **dict.fromkeys(
        ("logging-set-level", "resources-subscribe", "resources-unsubscribe", "tools-call-with-logging"), _UNDECLARED
    ),
}
"""For protocol version 2025-11-25."""

STATELESS: Mapping[str, str] = {
    **_BOTH,
    "http-custom-header-server-validation": _TOOL,
    **dict.fromkeys(
        (
            "input-required-result-basic-elicitation",
            "input-required-result-basic-list-roots",
            "input-required-result-basic-sampling",
            "input-required-result-capability-check",
            "input-required-result-ignore-extra-params",
            "input-required-result-missing-input-response",
            "input-required-result-multi-round",
            "input-required-result-multiple-input-requests",
            "input-required-result-non-tool-request",
            "input-required-result-request-state",
            "input-required-result-result-type",
            "input-required-result-tampered-state",
            "server-stateless/sep-2575-server-rejects-undeclared-capability",
            "server-stateless/sep-2575-missing-capability-http-400",
            "server-stateless/sep-2575-http-server-no-independent-requests-on-stream",
        ),
        _CLIENT_REQUEST,
    ),
    "server-stateless/sep-2575-server-no-log-without-loglevel": _UNDECLARED,
}
"""For protocol version 2026-07-28."""
