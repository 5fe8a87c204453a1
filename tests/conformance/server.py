"""The server under test: this project's own, with the fixtures of the conformance suite mounted beside its tools.

It serves as `kgnav serve --http` does, with the same checks of Host and Origin, and adds the one thing that a scenario
needs and the product does not: events are kept, so that a client may come back to a stream that was cut.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fixtures import mount
from mcp.server.streamable_http import EventCallback, EventId, EventMessage, EventStore, StreamId
from mcp_types import JSONRPCMessage

from kgnav_mcp.app import App
from kgnav_mcp.config import GraphSettings, HttpSettings, Settings
from kgnav_mcp.server import build_server
from kgnav_mcp.server.origins import transport_security
from kgnav_mcp.server.transport import listen, with_request_guards

_RETRY_MS = 100


@dataclass
class KeptEvents(EventStore):
    """All events of all streams; an event's id is its place among them."""

    events: list[tuple[StreamId, JSONRPCMessage | None]] = field(
        default_factory=list[tuple[StreamId, JSONRPCMessage | None]]
    )

    async def store_event(self, stream_id: StreamId, message: JSONRPCMessage | None) -> EventId:
        self.events.append((stream_id, message))
        return str(len(self.events) - 1)

    async def replay_events_after(self, last_event_id: EventId, send_callback: EventCallback) -> StreamId | None:
        last = int(last_event_id)
        if last >= len(self.events):
            return None
        stream = self.events[last][0]
        for place, (owner, message) in enumerate(self.events[last + 1 :], start=last + 1):
            if owner == stream and message is not None:
                await send_callback(EventMessage(message, str(place)))
        return stream


def main() -> None:
    """Serve on a free port of this machine, which a line on stderr names. No graph is there: none is needed."""
    settings = Settings(
        graphs={"missing": GraphSettings(location="missing.kg")}, http=HttpSettings(host="127.0.0.1", port=0)
    )
    server = build_server(App(settings))
    mount(server)
    app = server.streamable_http_app(
        host=settings.http.host,
        event_store=KeptEvents(),
        retry_interval=_RETRY_MS,
        transport_security=transport_security(settings.http),
    )
    listen(with_request_guards(app, settings.http), settings.http, settings.log_level)


if __name__ == "__main__":
    main()
