"""Export formats of trails: for a model, for a program, and for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from kgnav_mcp.model import Subgraph, Trail
from kgnav_mcp.navigation.subgraph import walked_subgraph
from kgnav_mcp.render.pictures import mermaid, svg
from kgnav_mcp.render.table import RenderOptions
from kgnav_mcp.render.trails import transcript_table
from kgnav_mcp.render.truncation import fit_to_budget
from kgnav_mcp.trails import trail_json, trail_page_json


@dataclass(frozen=True, slots=True)
class Export:
    """What to write: a trail, its handle, and how much of it."""

    trail: Trail
    handle: str
    options: RenderOptions
    page: int = 1
    whole: bool = False
    """Everything at once, instead of what fits an answer, a page or a readable picture."""


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format with its title, description, MIME type and writer."""

    title: str
    description: str
    mime_type: str
    write: Callable[[Export], str]


def _transcript(export: Export) -> str:
    options = replace(export.options, budget=_UNLIMITED) if export.whole else export.options
    return fit_to_budget(transcript_table(export.trail, export.handle, options), options, None).text


def _json(export: Export) -> str:
    if export.whole:
        return trail_json(export.trail) + "\n"
    page = export.page + 1
    next_page = (
        f"Next: kg://trail/{export.handle}/json?page={page}, or kgnav trail {export.handle} --format json --page {page}"
    )
    return trail_page_json(export.trail, export.page, next_page) + "\n"


def _subgraph(export: Export) -> Subgraph:
    limits = [_UNLIMITED] * 3 if export.whole else []
    return walked_subgraph(export.trail, *limits)


_UNLIMITED = 1_000_000_000
TRANSCRIPT: Final = "markdown"
JSON: Final = "json"
_PICTURE = "What was visited, the paths to answers, and some of the other rows with the number of those left out."
EXPORT_FORMATS: Final[Mapping[str, ExportFormat]] = {
    TRANSCRIPT: ExportFormat(
        "Transcript of a trail", "The steps of a walk, as show_trail gives them.", "text/markdown", _transcript
    ),
    JSON: ExportFormat(
        "A trail as JSON",
        "All that a trail holds: every call with what it showed, in pages of a megabyte.",
        "application/json",
        _json,
    ),
    "mermaid": ExportFormat(
        "A trail as a Mermaid flowchart",
        _PICTURE,
        "text/vnd.mermaid",
        lambda export: mermaid(_subgraph(export)),
    ),
    "svg": ExportFormat(
        "A trail as a picture",
        _PICTURE,
        "image/svg+xml",
        lambda export: svg(_subgraph(export)),
    ),
}
