"""Trails as tables: the transcript, the path over visited nodes, the proof of answers, and the cells of a maze."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise

from kgnav_mcp.clipping import clipped, comma_list
from kgnav_mcp.model import (
    Count,
    Direction,
    Entity,
    Evidence,
    NextCells,
    Path,
    ReasoningStep,
    Trail,
    TrailStep,
    Triple,
    Verdict,
)
from kgnav_mcp.render.columns import (
    EDGES,
    ENTITY,
    INTEGER,
    LONG_TEXT,
    RELATION,
    SCORE,
    VALUES,
    Column,
    Row,
    TruncatedList,
)
from kgnav_mcp.render.table import RenderOptions, Table
from kgnav_mcp.render.text import call_text, name_and_id, next_call

_CALL_LIMIT = 200
"""Maximum characters of a call in a transcript."""
_EDGES = 10
"""Maximum edges shown for one step, and for all summarised steps together."""
_INFERENCE = 1_000
"""Maximum characters of the inference of a step."""
_NAMES = 500
"""Maximum characters of the names of topics."""

STEP_COLUMNS = (
    Column("steps"),
    Column("call", LONG_TEXT, limit=_CALL_LIMIT),
    Column("answer", LONG_TEXT, limit=_CALL_LIMIT, optional=True),
    Column("edges", EDGES, optional=True, truncatable=True),
)
REASONING_COLUMNS = (
    Column("step", INTEGER),
    Column("anchor", ENTITY, "anchorLabel"),
    Column("relation", RELATION),
    Column("triples", EDGES, truncatable=True),
    Column("inference", LONG_TEXT, limit=_INFERENCE),
)
PATH_COLUMNS = (
    Column("from", ENTITY, "fromLabel"),
    Column("relation", RELATION),
    Column("direction", choices=tuple(Direction)),
    Column("to", ENTITY, "toLabel"),
)
EVIDENCE_COLUMNS = (
    Column("answer", LONG_TEXT),
    Column("verdict", choices=tuple(Verdict)),
    Column("triples", EDGES, optional=True),
    Column("missing", EDGES, optional=True),
    Column("hubs", VALUES, optional=True),
)
CELL_COLUMNS = (
    Column("cell", ENTITY, "name"),
    Column("distance", SCORE, optional=True),
    Column("mark", INTEGER, optional=True),
)


def transcript_table(trail: Trail, handle: str, options: RenderOptions) -> Table:
    """The steps of a trail in order, a row each. Earlier ones that do not fit are summarized in one row."""
    left = options.budget * 3 // 4
    rows: list[Row] = []
    for number in range(len(trail.steps), 0, -1):
        row = _step_row(number, trail.steps[number - 1])
        left -= options.row_tokens(STEP_COLUMNS, row)
        if left < 0 and rows:
            break
        rows.insert(0, row)
    summarised = len(trail.steps) - len(rows)
    if summarised:
        rows.insert(0, _summary_row(trail, summarised))
    notes = (f"Steps 1 to {summarised:,} are summarised: kg://trail/{handle}/json has them all.",) if summarised else ()
    topics = comma_list([*map(name_and_id, trail.topics)], _NAMES)
    started = datetime.fromtimestamp(trail.time, UTC).isoformat(" ", "minutes")
    return Table(
        "rows",
        STEP_COLUMNS,
        rows,
        Count(len(rows)),
        empty="nothing has been recorded yet. Pass `trail` to search, get_triples or any other tool.",
        intro=(
            f"Question: {clipped(trail.question, options.literal_limit)}",
            f"On the graph {trail.graph}, from {topics}. Started {started}.",
        ),
        notes=notes,
    )


def _step_row(number: int, step: TrailStep) -> Row:
    call = call_text(step.tool, step.arguments) or f"{step.tool}(...)"
    answer = f"error: {step.summary}" if step.failed else step.summary
    return str(number), call, answer, _first_edges(step.triples)


def _summary_row(trail: Trail, steps: int) -> Row:
    """The first steps in one row: the number of calls of each tool, and the edges between visited nodes."""
    summarised = trail.steps[:steps]
    calls = Counter(step.tool for step in summarised)
    visited = {entity.id for entity in trail.topics}.union(*(step.visited for step in trail.steps))
    edges = dict.fromkeys(
        triple
        for step in summarised
        for triple in step.triples
        if triple.head.id in visited and isinstance(triple.tail, Entity) and triple.tail.id in visited
    )
    return (
        f"1 to {steps}",
        comma_list([f"{tool} x {n}" for tool, n in calls.most_common()], _CALL_LIMIT),
        "",
        _first_edges([*edges]),
    )


def _first_edges(edges: Sequence[Triple]) -> TruncatedList | tuple[()]:
    return TruncatedList(tuple(edges[:_EDGES]), max(len(edges) - _EDGES, 0)) if edges else ()


def reasoning_table(handle: str, question: str, steps: Sequence[ReasoningStep], most: int, *, done: bool) -> Table:
    """All reasoning steps of a trail, enough to continue without any other context. `most` is the limit of steps."""
    left = most - len(steps)
    if done or not left:
        advice = f"{'Reasoning is done' if done else 'No step is left'}. Next: check_answer(trail, answers)."
    else:
        advice = f"{left} of {most} steps left. Next: add_step at another anchor, such as a tail above, or done=true."
    return Table(
        "steps",
        REASONING_COLUMNS,
        [
            (number, step.anchor, step.relation, _first_edges(step.triples), step.inference)
            for number, step in enumerate(steps, 1)
        ],
        Count(len(steps)),
        intro=(f"Question: {clipped(question, _INFERENCE)}", f"Trail: {handle}"),
        notes=(advice,),
    )


def path_table(path: Path | None, visited: int) -> Table:
    """The edges of a path, from its first node to its last."""
    rows = (
        [
            (start, edge.relation, Direction.OUTGOING if edge.head.id == start.id else Direction.INCOMING, end)
            for (start, end), edge in zip(pairwise(path.nodes), path.edges, strict=True)
        ]
        if path
        else []
    )
    return Table(
        "edges",
        PATH_COLUMNS,
        rows,
        Count(len(rows)),
        empty=f"no path of shown edges through visited entities connects the first of the {visited:,} visited entities "
        f"with the last. Visit the entities between them."
        if visited > 1
        else "a path needs at least two visited entities.",
        items=path.edges if path else (),
    )


_ADVICE = {
    Verdict.CONNECTED: "",
    Verdict.HUB_ONLY: "Mention that the only connection is through a hub, or find another path.",
    Verdict.CHANGED: "The graph has changed and no longer has a triple of this path: repeat the calls.",
    Verdict.UNCONNECTED: "Follow relations from a topic entity to it on this trail, then check again.",
    Verdict.UNGROUNDED: "No call on this trail showed this answer: look it up on this trail, then check again.",
}
"""Advice on answers, by verdict."""
_READERS_JUDGEMENT = (
    "Connected means that a path of edges leads from a topic to the answer. Judge yourself whether that path answers "
    "the question."
)


def evidence_table(evidence: Sequence[Evidence]) -> Table:
    """The verdict of each answer, with the triples that lead from a topic entity to it.

    A verdict is about the graph only: a path may connect an answer that is wrong.
    """
    kinds = list(dict.fromkeys(item.verdict for item in evidence))
    return Table(
        "answers",
        EVIDENCE_COLUMNS,
        [(item.answer, item.verdict, item.triples, item.missing, item.hubs) for item in evidence],
        Count(len(evidence)),
        intro=(_READERS_JUDGEMENT,),
        notes=tuple(f"{kind.capitalize()}: {_ADVICE[kind]}" for kind in kinds if _ADVICE[kind]),
        items=[(*item.nodes, *item.triples) if item.verdict is Verdict.CONNECTED else () for item in evidence],
    )


def cells_table(cells: NextCells) -> Table:
    """The open cells next to the entered one."""
    here = f"{name_and_id(cells.cell.entity)} is mark {cells.cell.mark}"
    unmarked = [cell for cell in cells.neighbours if cell.mark is None]
    goal = f"{here}, and the goal. {next_call('get_connected_path', {})} with this trail gives the path."
    return Table(
        "cells",
        CELL_COLUMNS,
        [(cell.entity, cell.distance, cell.mark) for cell in cells.neighbours],
        Count(len(cells.neighbours)),
        empty="all adjacent cells are walls.",
        intro=(goal if cells.at_goal else f"{here}; {len(unmarked)} of the open cells beside it are not marked yet.",),
        items=cells.triples,
        about=(cells.cell.entity,),
    )
