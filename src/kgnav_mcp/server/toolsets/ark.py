"""ARK-V1: reasoning in checked steps, each with the triples that support it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, cast

from pydantic import Field, WithJsonSchema

from kgnav_mcp.errors import InvalidArgument
from kgnav_mcp.model import Direction
from kgnav_mcp.navigation import reasoning_steps
from kgnav_mcp.navigation.reasoning_steps import Citation, StepLimits, SubmittedStep
from kgnav_mcp.navigation.sample_walks import SampleWalk, Walk
from kgnav_mcp.navigation.shown_graph import CHECK_TOOL
from kgnav_mcp.render.table import Answer, RenderedAnswer
from kgnav_mcp.render.text import NAME_LIMIT, call_text, clean, node_text
from kgnav_mcp.render.trails import REASONING_COLUMNS, reasoning_table
from kgnav_mcp.server.arguments import Arguments, Json
from kgnav_mcp.server.prompts import PromptSpec
from kgnav_mcp.server.tool import ToolCall, ToolSpec
from kgnav_mcp.server.toolsets import Toolset
from kgnav_mcp.server.toolsets.trail import HANDLE
from kgnav_mcp.server.trail_recorder import TrailUse
from kgnav_mcp.server.worked_examples import TRAIL_SHOWN, ExampleCall, question, reason_to_follow, reason_to_look

_CITED = 100
"""Maximum triples that one step may cite."""

_ELEMENT: Json = {"anyOf": [{"type": each} for each in ("string", "number", "boolean", "object")]}
_FORM: Json = {"type": "array", "items": _ELEMENT, "minItems": 3, "maxItems": 4}
GivenTriple = Annotated[list[Any], WithJsonSchema(_FORM)]


class AddStep(Arguments):
    """Arguments of `add_step`."""

    ids: ClassVar[frozenset[str]] = frozenset({"anchor", "relation", "triples"})

    trail: str = Field(description=HANDLE)
    anchor: str = Field(description="Entity id or name: the head of the triples.")
    relation: str = Field(description="Id or label of a relation that leaves the anchor; rel1.rel2 too.")
    triples: list[GivenTriple] = Field(
        description=(
            "The triples you keep as evidence, each [head, relation, tail] by ids, names or values as shown; of "
            "parallel edges with a fourth element, its qualifiers: {name: value}."
        ),
        min_length=1,
        max_length=_CITED,
    )
    inference: str = Field(description="One sentence: what follows from these triples for the question.")
    done: bool = Field(default=False, description="Whether the steps now answer the question.")

    @classmethod
    def normalized(cls, arguments: Json) -> Json:
        """The arguments with a single triple in place of a list of triples made a list."""
        result = super().normalized(arguments)
        triples = result.get("triples")
        if isinstance(triples, list) and triples and isinstance(triples[0], str):
            result["triples"] = [triples]
        return result


async def add_step(call: ToolCall, arguments: AddStep) -> Answer:
    """Add a reasoning step of ARK-V1 to the trail."""
    trail, most = await call.trail(), call.app.settings.trail
    cited = [_citation(number, cells) for number, cells in enumerate(arguments.triples, 1)]
    all_steps = await reasoning_steps.add_step(
        call.adapter,
        trail,
        SubmittedStep(arguments.anchor, arguments.relation, cited, arguments.inference),
        limits=call.limits,
        most=StepLimits(most.steps, most.retries),
    )
    table = reasoning_table(arguments.trail.strip(), trail.question, all_steps, most.steps, done=arguments.done)
    answer = call.answer(table, None)
    return RenderedAnswer(answer.text, answer.facts, all_steps[-1].triples, (all_steps[-1].anchor,))


def _citation(number: int, cells: list[Any]) -> Citation:
    """A cited triple. Numbers and truth values become text.

    Raises:
        InvalidArgument: it does not have the form of a triple.
    """
    if len(cells) not in (3, 4):
        raise _malformed_triple(number)
    head, relation, tail = (_text(number, cell) for cell in cells[:3])
    cited = cells[3] if len(cells) > 3 else None
    if cited is None:
        return Citation(head, relation, tail)
    if not isinstance(cited, dict):
        raise _malformed_triple(number)
    qualifiers = {name: _text(number, value) for name, value in cast("dict[str, object]", cited).items()}
    return Citation(head, relation, tail, qualifiers)


def _text(number: int, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float) and len(text := str(value)) <= AddStep.max_characters:
        return text
    raise _malformed_triple(number)


def _malformed_triple(number: int) -> InvalidArgument:
    return InvalidArgument(
        f"cited triple {number} is not a list of head, relation and tail",
        next_step='Write ["head", "relation", "tail"], or ["head", "relation", "tail", {"qualifier": "value"}].',
    )


_METHOD = """You answer a question by reasoning over a knowledge graph in a few steps, each of which is checked.

1. start_trail(question, topic_entities) gives the handle to pass as `trail` to every call.
2. Choose an anchor: an entity that is the head of triples. search(entity, direction="outgoing") or get_relations shows
   the relations that leave it. When none fits, choose another anchor.
3. Read the triples of one relation, by search with properties_to_filter_for or by get_triples.
4. add_step(anchor, relation, triples, inference) keeps those that matter, with one sentence that follows from them.
   A triple that is not in the graph is refused, and the answer lists triples of the anchor that are. Its answer has all
   steps so far: forget everything else.
5. Go on at another anchor, often a tail of a kept triple, until add_step(..., done=true).
6. check_answer(trail, answers) before you answer: give only what is connected, by a path that answers the question."""


def _walk_calls(walk: SampleWalk) -> Sequence[str]:
    trail = "trail-..."
    lines = [call_text("start_trail", {"question": "...", "topic_entities": [walk.start]}), f"  shows trail: {trail}"]
    for number, step in enumerate(walk.steps, 1):
        tail = clean(node_text(step.tail, NAME_LIMIT))
        search = {"entity": step.head, "direction": Direction.OUTGOING, "trail": trail}
        cited = [[step.head, step.relation, step.tail]]
        step_arguments = {"trail": trail, "anchor": step.head, "relation": step.relation, "triples": cited}
        conclusion = {"inference": f"{step.relation.label} leads to {tail}", "done": number == len(walk.steps)}
        lines += [call_text("search", search), call_text("add_step", {**step_arguments, **conclusion})]
        lines.append(f"  shows {number} step{'s' if number > 1 else ''}, the last with {tail}")
    answers = [step.tail for step in walk.steps[-1:]]
    return [*lines, call_text("check_answer", {"trail": trail, "answers": answers}), "  shows connected"]


def _example_calls(walk: Walk) -> list[ExampleCall]:
    """Each step looked at and kept, and the answer checked."""
    first, last = walk[0], walk[-1]
    topics = {"question": question(walk), "topic_entities": [first.entity]}
    calls = [ExampleCall("A trail keeps the steps.", "start_trail", topics, first, shows_ends=False)]
    for number, step in enumerate(walk, 1):
        search = {"entity": step.entity, "direction": str(step.direction), "trail": TRAIL_SHOWN}
        before = walk[number - 2] if number > 1 else None
        calls.append(ExampleCall(reason_to_look(step, before), "search", search, step, shows_ends=not step.is_hub))
        if step.is_hub:
            filtered = {**search, "properties_to_filter_for": [step.relation]}
            calls.append(ExampleCall(reason_to_follow(step), "search", filtered, step))
        outgoing = step.direction is Direction.OUTGOING
        step_arguments = {
            "trail": TRAIL_SHOWN,
            "anchor": step.entity if outgoing else step.ends[0],
            "relation": step.relation,
            "triples": [
                [triple.head, triple.relation, triple.tail]
                for triple in step.triples[: len(step.ends) if outgoing else 1]
            ],
            "inference": f"{step.relation.label} leads to {', '.join(end.label or end.id for end in step.ends)}.",
            "done": number == len(walk),
        }
        reason = "These triples carry the answer on, so keep them as a step."
        calls.append(ExampleCall(reason, reasoning_steps.TOOL, step_arguments, step, shows_ends=outgoing))
    answers = {"answers": [*last.ends], "trail": TRAIL_SHOWN}
    return [*calls, ExampleCall("Check the answer before giving it.", CHECK_TOOL, answers, last)]


TOOLSET = Toolset(
    title="ARK-V1",
    instructions=(
        "Reason in checked steps: add_step(trail, anchor, relation, triples, inference) keeps the triples a step rests "
        "on and answers with the summary of all steps, which is all you need to go on with."
    ),
    tools=(
        ToolSpec(
            name=reasoning_steps.TOOL,
            title="Add a reasoning step",
            description=(
                "Keep one step of reasoning on a trail: an anchor entity, one relation that leaves it, the triples "
                "that matter, and what follows from them. Each is checked in the store: a triple that is not there is "
                "refused, with triples that this anchor has. Answers with the summary of all steps, so that you can "
                "forget the rest. This server limits the steps and the refusals in a row; ARK-V1 gives no numbers. "
                "With done, check the answer "
                "by check_answer."
            ),
            arguments=AddStep,
            run=add_step,
            tables=(REASONING_COLUMNS,),
            example={
                "anchor": "vincent_van_gogh",
                "relation": "born_in",
                "triples": [["vincent_van_gogh", "born_in", "zundert"]],
                "inference": "He is from Zundert.",
            },
            read_only=False,
            idempotent=False,
            trail=TrailUse.IN_TURN,
        ),
    ),
    prompts=(
        PromptSpec(
            name="ark_v1",
            title="ARK-V1: reason in checked steps",
            description="Answer a question in a few steps of reasoning, each checked, and check the answer.",
            method=_METHOD,
            example_lines=_walk_calls,
            example_calls=_example_calls,
        ),
    ),
)
