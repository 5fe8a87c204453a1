"""Arms: configurations of how a model is prompted.

Each arm is a TOML file; those of this package are in the folder `arms`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

FOLDER = Path(__file__).parent / "arms"

ALL_TOOLS = "*"
"""In a phase's list of tools: all tools of the server."""

SCHEMA_TOOL = "describe_graph"
"""The tool whose answer is the placeholder `{schema}`."""


class ArmError(Exception):
    """The arm does not exist, or its file is invalid. The message says what to change."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Protocol(StrEnum):
    """How a model calls tools."""

    NATIVE = "native"
    """With the tool calls of its API."""
    TAGS = "tags"
    """As text, such as GraphWalker's `<kg-query>get_relations("...")</kg-query>`. Answers come as `<information>`."""


class Output(StrEnum):
    """What a phase ends with."""

    ANSWER = "answer"
    """The final answer in the required form."""
    TEXT = "text"
    """Any text, for the phases after it."""
    BLOCK = "block"
    """A fenced block, or the whole text if there is none, for the phases after it."""


class Call(_Part):
    """A tool call that the program makes without the model, such as GraphRunner's verification of a plan."""

    tool: str
    arguments: Mapping[str, str]
    """Texts with placeholders, such as `{plan}`, by the tool's parameters."""
    back_to: str = ""
    """The earlier phase that continues with `correction` if the tool answers with an error."""
    correction: str = ""
    """The message to the model in that phase. `{problem}` is replaced by the tool's answer."""
    retries: int = Field(default=3, ge=0)
    """How often the earlier phase is continued."""


class Phase(_Part):
    """A part of a method: a conversation with the model, or a tool call without it.

    Texts may have the placeholders `{question}`, `{topics}`, `{form}`, `{schema}` and the names of earlier phases.
    """

    name: str = Field(default="", pattern="^([a-z][a-z_]*)?$")
    """Lower-case letters and `_`. It may be empty if the arm has only one phase."""
    server_prompt: str = ""
    """The name of the server's prompt with which the conversation starts, such as `search_on_graph`."""
    instructions: bool = False
    """Whether the server's instructions are the system prompt, as in a chat client."""
    system: str = ""
    prompt: str = ""
    """The user's first message, after the server's prompt if there is one."""
    tools: Sequence[str] = ()
    protocol: Protocol = Protocol.NATIVE
    output: Output = Output.ANSWER
    max_turns: int = Field(default=30, ge=1)
    """Maximum number of requests to the model."""
    cut_after: str = ""
    """The name of a tool.

    After each successful call of it, the conversation is cut to the first message, this call and its answer.
    """
    call: Call | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if self.call is None and not (self.prompt or self.server_prompt):
            raise ValueError("a phase needs prompt, server_prompt or call")
        if self.call is not None and not self.name:
            raise ValueError("a phase with call needs a name")
        return self

    @property
    def wants_schema(self) -> bool:
        """Whether one of its texts contains the schema of the graph."""
        return "{schema}" in self.prompt + self.system


class Arm(_Part):
    """A method of answering questions."""

    name: str
    source: str = ""
    """The paper and section that describe the method."""
    differences: str = ""
    """What differs from the source."""
    toolsets: str = ""
    """The value of the server's option --toolsets; empty: the server's default."""
    server_options: Sequence[str] = ()
    """Further options of the server, such as `["--shots", "5"]`.

    They have no effect on a server that is already running.
    """
    reminders: int = Field(default=1, ge=0)
    """How often an output without an answer in the required form is answered with that form."""
    phases: Sequence[Phase] = Field(min_length=1)

    @model_validator(mode="after")
    def _phases_fit(self) -> Self:
        earlier: set[str] = set()
        for phase in self.phases:
            if phase.call is not None and phase.call.back_to and phase.call.back_to not in earlier:
                raise ValueError(f"phase {phase.name!r} goes back to {phase.call.back_to!r}, which is not before it")
            if phase.name in earlier:
                raise ValueError(f"two phases have the name {phase.name!r}")
            earlier.add(phase.name)
        if self.phases[-1].call is not None or self.phases[-1].output is not Output.ANSWER:
            raise ValueError("the last phase must end with the answer")
        return self

    @property
    def needs_server(self) -> bool:
        """Whether the arm uses anything of the server."""
        return any(
            phase.tools or phase.call or phase.server_prompt or phase.instructions or phase.wants_schema
            for phase in self.phases
        )

    @property
    def tool_names(self) -> frozenset[str]:
        """The tools that the server must have."""
        named = {tool for phase in self.phases for tool in phase.tools if tool != ALL_TOOLS}
        called = {phase.call.tool for phase in self.phases if phase.call is not None}
        return frozenset(named | called | {SCHEMA_TOOL for phase in self.phases if phase.wants_schema})


def arm_names() -> Sequence[str]:
    """The names of the arms of this package."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def arm_path(name: str) -> Path:
    """The file of an arm, given by its name or by a path.

    Raises:
        ArmError: there is no such arm.
    """
    path = Path(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
    if not path.is_file():
        raise ArmError(f"unknown arm {name!r}. Use one of {', '.join(arm_names())}, or a TOML file of yours.")
    return path


def read_arm(path: Path) -> Arm:
    """Read the arm in a file.

    Raises:
        ArmError: the file does not describe an arm.
    """
    try:
        return Arm.model_validate({"name": path.stem, **tomllib.loads(path.read_text(encoding="utf-8"))})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ArmError(f"{path} cannot be read: {error}") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "the arm"
        raise ArmError(f"{path} is not an arm: {place}: {first['msg']}") from error
