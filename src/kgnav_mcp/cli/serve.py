"""`kgnav serve`: the MCP server, over stdio for the client that starts it, or over HTTP for many clients."""

from __future__ import annotations

import gc

import click

from kgnav_mcp.cli.boundary import Command
from kgnav_mcp.cli.graph_places import check_graph_files
from kgnav_mcp.cli.options import with_settings
from kgnav_mcp.config import Settings

_GC_THRESHOLDS = (10_000, 5, 80)
"""Thresholds of the garbage collector, one for each generation (`gc.set_threshold`).
A large answer creates some hundred thousand objects, none of them garbage. With Python's own thresholds the collector
scans them ten times, a tenth of a second each, and blocks all other calls meanwhile. The second generation is scanned
at 50,000 objects, for which others wait 10 ms.
"""


_PAPER_FORMATS = (
    "Answers have the papers' formats (--paper-format): no completeness lines, cursors and token budget; "
    "an answer over 1 MB is an error."
)


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  kgnav serve                                          the demo graph, over stdio
  kgnav serve --graph films.kg --graph wiki=wikidata+https://query.wikidata.org/sparql
  kgnav serve --graph films.kg --http                  http://127.0.0.1:8365/mcp
  kgnav serve --graph films.kg --http 0.0.0.0:80 --http-allowed-hosts graphs.example.org""",
)
@click.option(
    "--http",
    "http_address",
    is_flag=False,
    flag_value="",
    metavar="[HOST:PORT]",
    help="Serve over HTTP instead of stdio, at this address or at that of --http-host and --http-port.",
)
@with_settings(http=True)
@click.pass_context
def serve(context: click.Context, *, settings: Settings) -> None:
    """Serve the graphs to MCP clients.

    With --http, /mcp/structured always answers with structured content; --structured is for /mcp.
    Without --http the server talks to the client that started it over stdin and stdout, and ends when the client closes
    stdin. Flags take precedence over KGNAV_* variables, these over kgnav.toml, and that over the defaults.
    """
    if context.params["graph"]:  # one of the configuration file may still be loaded while others are served
        check_graph_files(settings)
    if settings.paper_format:
        click.echo(_PAPER_FORMATS, err=True)
    gc.disable()  # imported objects are never garbage; scanning them takes a tenth of the start
    try:
        from kgnav_mcp.server import transport  # noqa: PLC0415 - `--help` and a wrong flag need no protocol
    finally:
        gc.freeze()
        gc.set_threshold(*_GC_THRESHOLDS)
        gc.enable()
    if context.params["http_address"] is None:
        transport.serve_stdio(settings)
    else:
        transport.serve_http(settings)
