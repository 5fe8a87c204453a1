"""The style sheet of pictures, for light and dark screens."""

from __future__ import annotations

from kgnav_mcp.render.pictures.colours import FILLS, PROOF

NODE_SIZE, RELATION_SIZE, QUESTION_SIZE = 12.0, 10.5, 15.0
"""Font sizes of nodes and notes, of relations, and of the question, in pixels."""

_FILLED = "".join(
    f"path.{role.name.lower()}{{fill:{fill};stroke:{text}}}text.{role.name.lower()}{{fill:{text}}}"
    for role, (fill, text) in FILLS.items()
)
_SCREEN = (
    ".page{{fill:{page}}}.question{{fill:{text}}}path.seen,path.value,path.more{{fill:{page};stroke:{line}}}"
    "text.seen,text.value{{fill:{text}}}.note,.relation,text.more{{fill:{soft}}}"
    ".edge{{stroke:{line}}}#arrow path{{fill:{line}}}"
)
_LIGHT = _SCREEN.format(page="#ffffff", text="#1a1a1a", soft="#444444", line="#6e6e6e")
_DARK = _SCREEN.format(page="#0d1117", text="#f0f0f0", soft="#c4c9d0", line="#9aa0a8")

STYLE = (
    f"text{{text-anchor:middle;font:{NODE_SIZE:g}px "
    "system-ui,'Segoe UI','Noto Sans','Noto Sans CJK SC',sans-serif}"
    f".question{{font-size:{QUESTION_SIZE:g}px;font-weight:600}}.relation{{font-size:{RELATION_SIZE:g}px}}"
    ".note,.question{text-anchor:start}"
    "path{stroke-width:1.2}path.value{stroke-dasharray:3 2}text.value,text.more{font-style:italic}"
    "path.more{stroke-dasharray:1 3;fill:none}.copy{opacity:.6}path.copy{stroke-dasharray:5 3}"
    ".further{stroke-dasharray:1 3}"
    f".edge{{fill:none}}{_LIGHT}{_FILLED}"
    f"@media(prefers-color-scheme:dark){{{_DARK}path.topic{{stroke:#f0f0f0}}}}"
    f".proof.edge{{stroke:{PROOF};stroke-width:2.4}}#proof path{{fill:{PROOF}}}"
)
_ARROW = (
    '<marker id="{name}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
    'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" stroke="none"/></marker>'
)
ARROWS = _ARROW.format(name="arrow") + _ARROW.format(name="proof")
"""Arrow heads of plain edges and of edges that prove an answer."""
