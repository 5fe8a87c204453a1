"""MetaQA as published (`qa_test.txt`), or with its gold paths as JSON Lines (Zhang et al., 2018)."""

from __future__ import annotations

import re
from typing import cast

from kgnav_bench.datasets.dataset import Dataset, Reading, either, numbered
from kgnav_bench.datasets.rows import BadRowError, Row, json_lines, tab_separated, text, texts
from kgnav_bench.records import Answer, Entity, Question

_TOPIC = re.compile(r"\[([^\]]+)\]")
_HOPS = re.compile(r"([1-3])-?hop")


def _question(row: Row, reading: Reading) -> Question:
    written = text(row, "question")
    if "path" in row:
        topic, answers, relations = text(row, "topic"), texts(row, "answers"), _relations(row)
        kind = f"{len(relations)}-hop"
    else:
        found = _TOPIC.search(written)
        if found is None:
            raise BadRowError("question: has no [topic]")
        topic, answers, relations = found[1], text(row, "answers").split("|"), ()
        written = _TOPIC.sub(r"\1", written)
        hops = _HOPS.findall(str(reading.path))
        kind = f"{hops[-1]}-hop" if hops else ""
    return Question(
        id="-".join(filter(None, (kind, numbered(reading)))),
        text=written,
        answers=tuple(Answer(names=(name,), id=name) for name in dict.fromkeys(answers)),
        topics=(Entity(id=topic, name=topic),),
        relations=relations,
        kind=kind,
    )


def _relations(row: Row) -> tuple[str, ...]:
    path: object = row["path"]
    steps = cast("list[object]", path) if isinstance(path, list) else [None]
    if not all(isinstance(step, list) and len(cast("list[object]", step)) == 2 for step in steps):
        raise BadRowError("path: is not a list of [relation, direction]")
    pairs = cast("list[tuple[str, str]]", steps)
    return tuple(relation if direction == "outgoing" else f"^{relation}" for relation, direction in pairs)


METAQA = Dataset(
    name="metaqa",
    title="MetaQA",
    graph="films (its own kb.txt)",
    questions=407_513,
    licence="CC BY 3.0",
    home="https://github.com/yuyuz/MetaQA",
    used_by="-",
    rows=either(json_lines, tab_separated("question", "answers"), (".jsonl",)),
    question=_question,
    by_hand=(
        "The page links a folder: kb.txt, and 1-hop/vanilla/qa_test.txt and the like. The graph loads by "
        "kgnav load kb.txt --format triples -o films.kg"
    ),
)
