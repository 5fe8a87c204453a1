"""Export formats of trails: for a model, for a program, and for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from kgnav_mcp.model import Trail
from kgnav_mcp.navigation.subgraph import walked_subgraph
from kgnav_mcp.render.fitting import fit_to_budget
from kgnav_mcp.render.pictures import mermaid, svg
from kgnav_mcp.render.table import RenderOptions
from kgnav_mcp.render.trails import transcript_table
from kgnav_mcp.trails import trail_json


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format with its title, description, MIME type and writer. Only the transcript is limited to a token budget."""

    title: str
    description: str
    mime_type: str
    write: Callable[[Trail, RenderOptions], str]


def _transcript(trail: Trail, options: RenderOptions) -> str:
    return fit_to_budget(transcript_table(trail, options), options, None).text


TRANSCRIPT: Final = "markdown"
EXPORT_FORMATS: Final[Mapping[str, ExportFormat]] = {
    TRANSCRIPT: ExportFormat(
        "Transcript of a trail", "The steps of a walk, as show_trail gives them.", "text/markdown", _transcript
    ),
    "json": ExportFormat(
        "A trail as JSON",
        "All that a trail holds: every call with what it showed.",
        "application/json",
        lambda trail, _: trail_json(trail) + "\n",
    ),
    "mermaid": ExportFormat(
        "A trail as a Mermaid flowchart",
        "The entities and edges that a walk has seen, up to 200 nodes.",
        "text/vnd.mermaid",
        lambda trail, _: mermaid(walked_subgraph(trail)),
    ),
    "svg": ExportFormat(
        "A trail as a picture",
        "The entities and edges that a walk has seen, up to 200 nodes.",
        "image/svg+xml",
        lambda trail, _: svg(walked_subgraph(trail)),
    ),
}
