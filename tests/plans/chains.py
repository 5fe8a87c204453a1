"""A chain of nodes: `Node 0` leads to `Node 1`, and so on."""

from __future__ import annotations

from pathlib import Path

LENGTH = 20_000
LAST = f"Node {LENGTH}"
EACH_PATH = (
    f"MATCH p = (a {{name: 'Node 0'}})-[:next*]->(b {{name: '{LAST}'}}) RETURN p ORDER BY length(p)",
    "MATCH p = (a {name: 'Node 0'})-[:next*]->(b) RETURN p ORDER BY length(p)",
    f"MATCH p = (a)-[:next*]->(b {{name: '{LAST}'}}) RETURN count(p)",
    "MATCH (x {name: 'Node 0'})-[:next]->(a) MATCH p = (a)-[:next*1..5000]->(b) RETURN p",
)
"""Plans that list each path of the chain: with edges in the hundred millions together."""


def write_chain(folder: Path, length: int = LENGTH) -> list[Path]:
    """Writes a chain of so many edges as files of nodes and edges."""
    nodes, edges = folder / "nodes.csv", folder / "edges.csv"
    names = "".join(f"n{number},Node {number},Link\n" for number in range(length + 1))
    nodes.write_text(f":ID,name,:LABEL\n{names}", encoding="utf-8")
    links = "".join(f"n{number},n{number + 1},next\n" for number in range(length))
    edges.write_text(f":START_ID,:END_ID,:TYPE\n{links}", encoding="utf-8")
    return [nodes, edges]
