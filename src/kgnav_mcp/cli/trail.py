"""`kgnav trail`: writes a recorded trail as a transcript, as JSON, or as a picture."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from kgnav_mcp.cli.boundary import Command
from kgnav_mcp.cli.options import JSON_FLAG, with_settings
from kgnav_mcp.config import Settings
from kgnav_mcp.errors import ConfigurationError, InvalidArgument, UnknownTrail

_STORE_ADVICE = "Check that --trail-store is the same as the server's."
_FORMATS = ("markdown", "json", "mermaid", "svg")


@click.command(
    cls=Command,
    short_help="Write a recorded walk as text, JSON or a picture.",
    epilog="""\b
Examples:
  kgnav trail trail-Sd4oTR2E-soIlUHACHm24g --trail-store trails.db
  kgnav trail trail-Sd4oTR2E-soIlUHACHm24g --trail-store trails.db --format svg -o walk.svg
  kgnav trail trail-Sd4oTR2E-soIlUHACHm24g --trail-store redis://localhost --format json | jq .steps

Trails in a server's memory can only be read by its clients: kg://trail/HANDLE, .../json, .../mermaid and .../svg.""",
)
@click.argument("handle")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(_FORMATS),
    default=_FORMATS[0],
    show_default=True,
    help="The format: a transcript, the whole trail as JSON, a Mermaid flowchart, or an SVG picture.",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="The file to write. [default: stdout]"
)
@click.option(
    "--page",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Page of the JSON; a page has at most a megabyte.",
)
@click.option(
    "--all",
    "whole",
    is_flag=True,
    help="Write everything: every step of the transcript, all pages, every node of the picture.",
)
@JSON_FLAG
@with_settings()
def trail(
    *,
    handle: str,
    format_name: str,
    output: Path | None,
    page: int,
    whole: bool,
    as_json: bool,
    settings: Settings,
) -> None:
    """Write the trail HANDLE, as start_trail printed it, from where the server keeps its trails."""
    from kgnav_mcp.trails import MEMORY  # noqa: PLC0415 - `--help` needs no trails

    format_name = "json" if as_json else format_name
    store = settings.trail.store
    if store == MEMORY:
        address = f"kg://trail/{handle}" + ("" if format_name == _FORMATS[0] else f"/{format_name}")
        raise ConfigurationError(
            "trails are stored in the memory of the server (the default), where no other process can read them",
            next_step="Start the server and this command with the same --trail-store, a file or redis://HOST; or read "
            f"{address} in the client.",
        )
    if "://" not in store and not Path(store).is_file():  # opening it would create it
        raise InvalidArgument(f"the trail store {store} does not exist", next_step=_STORE_ADVICE)
    text = asyncio.run(_export(handle.strip(), format_name, page, settings, whole=whole))
    if output is None:
        click.echo(text, nl=not text.endswith("\n"))
    else:
        output.write_text(text, encoding="utf-8")


async def _export(handle: str, format_name: str, page: int, settings: Settings, *, whole: bool) -> str:
    from kgnav_mcp.app import App  # noqa: PLC0415 - as above
    from kgnav_mcp.server.exports import EXPORT_FORMATS, Export  # noqa: PLC0415 - as above

    async with App(settings) as app:
        try:
            trail = await app.trails.read(handle)
        except UnknownTrail as error:
            place = f"{settings.trail.shown_store} has no such trail."
            raise InvalidArgument(error.message, next_step=f"{place} {_STORE_ADVICE}") from error
        return EXPORT_FORMATS[format_name].write(Export(trail, handle, app.render_options, page, whole))
