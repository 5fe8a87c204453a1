"""The server under test: this project's own, with the fixtures of the conformance suite mounted beside its tools.

It serves as `kgnav serve --http` does, with the same checks of Host and Origin.
"""

from __future__ import annotations

from fixtures import mount

from kgnav_mcp.app import App
from kgnav_mcp.config import GraphSettings, HttpSettings, Settings
from kgnav_mcp.server import build_server
from kgnav_mcp.server.sessions import RETRY_MS, RecentEvents
from kgnav_mcp.server.transport import listen, transport_security, with_request_guards


def main() -> None:
    """Serve on a free port of this machine, which a line on stderr names. No graph is there: none is needed."""
    settings = Settings(
        graphs={"missing": GraphSettings(location="missing.kg")}, http=HttpSettings(host="127.0.0.1", port=0)
    )
    server = build_server(App(settings))
    mount(server)
    app = server.streamable_http_app(
        host=settings.http.host,
        event_store=RecentEvents(),
        retry_interval=RETRY_MS,
        transport_security=transport_security(settings.http),
    )
    listen(with_request_guards(app, settings.http), settings.http, settings.log_level)


if __name__ == "__main__":
    main()
