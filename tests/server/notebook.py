"""A toolset that is not the product's: one tool that changes something, its words, and a prompt."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kgnav_mcp.model import Triple
from kgnav_mcp.render.columns import Column
from kgnav_mcp.render.table import Answer, row_answer
from kgnav_mcp.render.text import call_text
from kgnav_mcp.server.arguments import Arguments
from kgnav_mcp.server.prompts import PromptSpec, step_by_step
from kgnav_mcp.server.tool import ToolCall, ToolSpec
from kgnav_mcp.server.toolsets import Toolset

NOTE = (Column("note"),)
NOTES: list[str] = []
"""What was written down in this process."""


class WriteDown(Arguments):
    """Arguments of `write_down`."""

    note: str = Field(description="What to keep.")
    page: Literal["left", "right"] = Field(default="left", description="Where to keep it.")


async def write_down(call: ToolCall, arguments: WriteDown) -> Answer:
    """Keep the note, and answer with it."""
    NOTES.append(arguments.note)
    return row_answer(f"{call.graph.name}: {arguments.note}", NOTE, (arguments.note,))


def _step_calls(step: Triple) -> str:
    return call_text("write_down", {"note": step.head})


TOOLSET = Toolset(
    title="Notebook",
    instructions="Keep: write_down(note) remembers it.",
    tools=(
        ToolSpec(
            name="write_down",
            title="Write a note down",
            description="Keep a note. It is there at the next call.",
            arguments=WriteDown,
            run=write_down,
            tables=(NOTE,),
            example={"note": "so"},
            read_only=False,
            idempotent=False,
        ),
    ),
    prompts=(
        PromptSpec(
            name="take_notes",
            title="Take notes",
            description="Answer a question with a notebook.",
            method="You write everything down.",
            example_lines=step_by_step(_step_calls),
            example_calls=lambda _: (),
        ),
    ),
)
NOT_A_TOOLSET = TOOLSET.tools
