"""How large the parts of a plan are, where the store has counted them already."""

from __future__ import annotations

from kgnav_mcp.adapters.cypher.builder import labelled
from kgnav_mcp.adapters.cypher.plans import queries
from kgnav_mcp.adapters.cypher.plans.words import Words
from kgnav_mcp.plan import EdgePattern, NodePattern, Plan
from kgnav_mcp.spelling.cypher import write_part


def counted(words: Words, plan: Plan) -> list[tuple[str, str]]:
    """Parts as they are written, each with an expression that is its size: those of one label, or of one type."""
    parts = dict.fromkeys(
        part for pipeline in plan.pipelines for match in pipeline.matches for part in (*match.nodes, *match.edges)
    )
    found = ((write_part(part), _count(words, part)) for part in parts)
    return [(part, text) for part, text in found if text is not None]


def _count(words: Words, part: NodePattern | EdgePattern) -> str | None:
    if isinstance(part, NodePattern):
        names = [name for group in part.labels for name in group]
        return words.fill(queries.NODE_COUNT, label=labelled(names[0])) if len(names) == 1 else None
    names = part.relations if part.path is None else ()
    return words.fill(queries.EDGE_COUNT, type=labelled(names[0])) if len(names) == 1 else None
