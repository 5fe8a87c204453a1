"""The style sheet of pictures, for light and dark screens."""

from __future__ import annotations

from kgnav_mcp.render.pictures.colours import FILLS, PROOF

_FILLED = "".join(
    f"path.{role.name.lower()}{{fill:{fill};stroke:{text}}}text.{role.name.lower()}{{fill:{text}}}"
    for role, (fill, text) in FILLS.items()
)
_SCREEN = (
    ".page{{fill:{page}}}.question{{fill:{text}}}path.seen,path.value{{fill:{page};stroke:{line}}}"
    "text.seen,text.value{{fill:{text}}}.note,.relation{{fill:{soft}}}"
    ".edge{{stroke:{line}}}#arrow path{{fill:{line}}}"
)
_LIGHT = _SCREEN.format(page="#ffffff", text="#1a1a1a", soft="#444444", line="#6e6e6e")
_DARK = _SCREEN.format(page="#0d1117", text="#f0f0f0", soft="#c4c9d0", line="#9aa0a8")

STYLE = (
    "text{text-anchor:middle;font:12px system-ui,'Segoe UI','Noto Sans','Noto Sans CJK SC',sans-serif}"
    ".question{font-size:15px;font-weight:600}"
    ".relation{font-size:10.5px}.note,.question{text-anchor:start}"
    "path{stroke-width:1.2}path.value{stroke-dasharray:3 2}text.value{font-style:italic}"
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
