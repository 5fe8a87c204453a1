"""GRBench: questions over graphs of papers, books, goods, law and biomedicine (Jin et al., 2024), and its graphs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Final, cast

from kgnav_bench.datasets.dataset import Dataset, File, Reading
from kgnav_bench.datasets.rows import Row, UnreadableDatasetError, json_lines, opened_bytes, text
from kgnav_bench.records import Answer, AnswerKind, Question

_FILES = "https://raw.githubusercontent.com/PeterGriffinJin/Graph-CoT/faea29f7a42e32522d0262757729ac66169273fb/data/processed_data"
_ijson: Final[Any] = import_module("ijson")  # it has no types
_NAMES = ("name", "title", "case_name", "full_name")
"""Features that name a node, the first that it has."""
_TYPED_EDGE = re.compile(r"(.+)-([^-]+)-(.+)")
"""Neighbours of the biomedical graph: type, relation, type. Both ends list the edge under the same name."""


def _question(row: Row, reading: Reading) -> Question:
    return Question(
        id=f"{reading.path.parent.name}-{text(row, 'qid')}",
        text=text(row, "question"),
        answers=(Answer(names=(text(row, "answer"),)),),
        kind=str(row.get("level") or reading.path.parent.name),
        answer_kind=AnswerKind.TEXT,
    )


def convert(source: Path, target: Path) -> tuple[int, int]:
    """Convert a `graph.json` of GRBench to JSON lines that `kgnav load` reads. Returns the numbers of nodes and edges.

    The file, which may be compressed (.gz, .bz2), is read piece by piece. A list of neighbours becomes edges from the
    node, whose relation is the name of the list. If both ends, of different types, list the same edge under one name,
    it is written once.

    Raises:
        UnreadableDatasetError: it is not a graph of GRBench.
    """
    nodes = edges = 0
    try:
        with opened_bytes(source) as file, target.open("w", encoding="utf-8") as written:
            for kind, identifier, node in _nodes(file):
                label = kind.removesuffix("_nodes")
                written.write(_node_line(label, identifier, node))
                nodes += 1
                for relation, end, properties in _edges(label, node):
                    written.write(_edge_line(edges, relation, identifier, end, properties))
                    edges += 1
    except _ijson.JSONError as error:
        raise UnreadableDatasetError(f"{source} is not JSON: {error}") from error
    if not nodes:
        raise UnreadableDatasetError(f"{source} has no nodes: a graph of GRBench has `TYPE_nodes` with their ids.")
    return nodes, edges


def _nodes(file: IO[bytes]) -> Iterator[tuple[str, str, Row]]:
    """Type, id and content of each node."""
    kind = identifier = ""
    depth = 0
    builder: Any = None
    for event, value in _ijson.basic_parse(file, use_float=True):
        opens, closes = event in {"start_map", "start_array"}, event in {"end_map", "end_array"}
        if builder is not None:
            builder.event(event, value)
        elif event == "map_key" and depth == 1:
            kind = value
        elif event == "map_key" and depth == 2:
            identifier = value
        elif opens and depth == 2:
            builder = _ijson.ObjectBuilder()
            builder.event(event, value)
        depth += opens - closes
        if builder is not None and depth == 2 and closes:
            node = cast("object", builder.value)
            yield kind, identifier, _checked(node, f"node {identifier!r} of {kind!r}")
            builder = None


def _checked(node: object, place: str) -> Row:
    row: Row = cast("Row", node) if isinstance(node, Mapping) else {}
    if not isinstance(row.get("features"), Mapping):
        raise UnreadableDatasetError(f"{place} has no features.")
    if not isinstance(row.get("neighbors") or {}, Mapping):
        raise UnreadableDatasetError(f"neighbors of {place} are not an object.")
    return row


def _node_line(label: str, identifier: str, node: Row) -> str:
    properties = {name: value for name, value in node["features"].items() if value not in (None, "")}
    name = next((properties[each] for each in _NAMES if properties.get(each)), None)
    if name is not None:
        properties.setdefault("name", name)
    return _line({"type": "node", "id": identifier, "labels": [label], "properties": _plain(properties)})


def _edges(label: str, node: Row) -> Iterator[tuple[str, str, Mapping[str, object]]]:
    """Relation, far end and properties of each edge that a node lists."""
    neighbors = cast("Mapping[str, object]", node.get("neighbors") or {})
    for relation, listed in neighbors.items():
        typed = _TYPED_EDGE.fullmatch(relation)
        if typed is not None and typed[1] != typed[3] and label == typed[3].replace(" ", "_"):
            continue  # its other end lists it, too; only types of nodes have underscores for spaces
        groups = cast("Mapping[str, object]", listed) if isinstance(listed, Mapping) else {"": listed}
        for group, ends in groups.items():
            if not isinstance(ends, list):
                raise UnreadableDatasetError(f"neighbors {relation!r} of a node of '{label}_nodes' are not a list.")
            for end in cast("list[object]", ends):
                yield relation, str(end), {"group": group} if group else {}


def _edge_line(number: int, relation: str, head: str, tail: str, properties: Mapping[str, object]) -> str:
    edge = {"type": "relationship", "id": str(number), "label": relation, "start": {"id": head}, "end": {"id": tail}}
    return _line({**edge, "properties": properties} if properties else edge)


def _plain(properties: Mapping[str, object]) -> dict[str, object]:
    """Values that a property can have: texts, numbers, and lists of them. Others are written as JSON."""
    return {
        name: json.dumps(value, ensure_ascii=False)
        if isinstance(value, Mapping)
        or (isinstance(value, list) and any(isinstance(each, Mapping | list) for each in cast("list[object]", value)))
        else value
        for name, value in properties.items()
    }


def _line(value: Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


_SPLITS = {
    "amazon": "ca317405ff63090e0dc3b2831079a5777675ae9aeae2a1b388786744a0d8c3fa",
    "biomedical": "706c56d0f77844467f0d06adfc7a6d0c670798447a9e2c099ef5a000e78b7d98",
    "dblp": "4f3b37589af970ff9d9545ce765c294dff8685e9a578901cdef0641123b2bf64",
    "goodreads": "6fc35c4ed2076770434579cef646c874c334dfbf3b1953a9aa3a937ac420f451",
    "legal": "24d680e5ef3a98caa11995cdbd50557d0f18e15b645cfd20651b8cfcf6964c6b",
    "maple/Biology": "0a80c64c854e6c1650af463b714f7a617e01787bd6d120ad21c97cc9f007b285",
    "maple/Chemistry": "422060c21ddebcdab898cf65b33e027a539dcbca9032a976ace9f3436e177620",
    "maple/Materials_Science": "b9226c48ebb0d0353302efb635d5fb341b6e6a6549c5c1be604dd7a8b075a71b",
    "maple/Medicine": "92709267d81d5e08966cb99f6b5bb5255e3b8f54150dd5775ce375fec07b9d4b",
    "maple/Physics": "f6ccb8217d533f7cb9cce4c0f09bfd4c50f2c8451301a4f1102ba233aa58dd7d",
}

GRBENCH = Dataset(
    name="grbench",
    title="GRBench",
    graph="ten graphs of its own",
    questions=1740,
    licence="Apache 2.0",
    home="https://github.com/PeterGriffinJin/Graph-CoT",
    used_by="GraphRunner",
    rows=json_lines,
    question=_question,
    files=tuple(File(split, f"{_FILES}/{split}/data.json", sha256) for split, sha256 in _SPLITS.items()),
    by_hand="The graphs (graph.json) are in a folder that its page links: kgnav-bench dataset graph converts them.",
)
