"""The loop of all arms: send the messages to the model, make its calls, and repeat until an answer or a limit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

from kgnav_bench.agents.answers import STOPS, block, final_answers, required_form, text_call, until_first_call
from kgnav_bench.agents.arms import Arm, Output, Phase, Protocol
from kgnav_bench.agents.server import Server
from kgnav_bench.models import (
    CallRequest,
    ContextFullError,
    EndpointError,
    Finish,
    Message,
    Model,
    Reply,
    Role,
    ServerFailedError,
    Tool,
)
from kgnav_bench.records import Attempt, Outcome, Question, ToolCall, Turn

_PLACEHOLDER = re.compile(r"\{([a-z][a-z_]*)\}")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one attempt, and the settings of the requests to the model."""

    max_turns: int | None = None
    """Maximum number of requests to the model in each phase; None: as the arm says."""
    max_calls: int = 100
    """Maximum tool calls per attempt."""
    max_tokens: int | None = None
    """Maximum number of tokens of each reply; None: the endpoint's default."""
    token_budget: int | None = None
    """Maximum number of tokens of all prompts and replies; None: no limit."""
    temperature: float | None = None


@dataclass
class _End(Exception):
    """The attempt ends before its last phase has an answer."""

    outcome: Outcome
    text: str = ""
    error: str = ""


@dataclass(slots=True)
class Loop:
    """One attempt of a model at a question."""

    arm: Arm
    model: Model
    server: Server | None
    question: Question
    limits: Limits
    repeat: int = 0
    turns: list[Turn] = field(default_factory=list[Turn])
    _reminded: int = 0
    _values: dict[str, str] = field(default_factory=dict[str, str])
    _talks: dict[str, list[Message]] = field(default_factory=dict[str, list[Message]])

    async def attempt(self) -> Attempt:
        """Make the attempt, and return it with all its turns.

        If the endpoint or the server fails, its outcome is FAILED.
        """
        begin = perf_counter()
        answers: tuple[str, ...] = ()
        error = ""
        try:
            text, answers = await self._phases()
            outcome = Outcome.ANSWERED if answers else Outcome.ABSTAINED
        except _End as end:
            outcome, text, error = end.outcome, end.text, end.error
        except ContextFullError as full:
            outcome, text, error = Outcome.EXHAUSTED, "", str(full)
        except (EndpointError, ServerFailedError) as failure:
            outcome, text, error = Outcome.FAILED, "", str(failure)
        return Attempt(
            question=self.question.id,
            arm=self.arm.name,
            model=self.model.name,
            repeat=self.repeat,
            outcome=outcome,
            answers=answers,
            text=text,
            error=error,
            turns=tuple(self.turns),
            seconds=perf_counter() - begin,
        )

    async def _phases(self) -> tuple[str, tuple[str, ...]]:
        """The final output and its answers."""
        places = {phase.name: place for place, phase in enumerate(self.arm.phases)}
        retries = {phase.name: phase.call.retries for phase in self.arm.phases if phase.call is not None}
        place = 0
        while True:
            phase = self.arm.phases[place]
            if phase.call is None:
                text = await self._conversation(phase)
                if phase.output is Output.ANSWER:
                    return await self._answered(phase, text)
                self._values[phase.name] = block(text) if phase.output is Output.BLOCK else text
            else:
                problem = await self._direct_call(phase)
                if problem is not None and phase.call.back_to:
                    if not retries[phase.name]:
                        raise _End(Outcome.EXHAUSTED, error=f"{phase.name}: refused after all retries: {problem}")
                    retries[phase.name] -= 1
                    told = _filled(phase.call.correction, {**self._values, "problem": problem})
                    self._talks[phase.call.back_to].append(Message(Role.USER, told))
                    place = places[phase.call.back_to]
                    continue
            place += 1

    async def _answered(self, phase: Phase, text: str) -> tuple[str, tuple[str, ...]]:
        """An output and its answers. An output that cannot be read is answered with the required form."""
        form = required_form(self.question.answer_kind, phase.protocol)
        while (answers := final_answers(text, self.question.answer_kind, phase.protocol)) is None:
            if self._reminded == self.arm.reminders:
                raise _End(Outcome.UNREADABLE, text)
            self._reminded += 1
            self._talks[phase.name].append(Message(Role.USER, f"There is no answer in the required form. {form}"))
            text = await self._conversation(phase)
        return text, answers

    async def _direct_call(self, phase: Phase) -> str | None:
        """Call a tool without the model. Returns its error, None if there is none."""
        assert phase.call is not None
        assert self.server is not None
        arguments = {name: _filled(text, self._values) for name, text in phase.call.arguments.items()}
        made = await self.server.call(phase.call.tool, arguments)
        self.turns.append(Turn(phase=phase.name, calls=(made,)))
        self._values[phase.name] = made.result
        return made.result if made.is_error else None

    async def _conversation(self, phase: Phase) -> str:
        """The model's last text in a phase, which is new or continues.

        Raises:
            _End: the model refuses, or turns, calls or tokens are used up.
        """
        if phase.name not in self._talks:
            self._talks[phase.name] = await self._first_messages(phase)
        talk = self._talks[phase.name]
        native = phase.protocol is Protocol.NATIVE
        tools = self.server.tools(phase.tools) if self.server is not None else []
        text = next((turn.text for turn in reversed(self.turns) if turn.phase == phase.name), "")
        while self._turns_left(phase):
            self._check_budget(text)
            reply = await self.model.complete(
                talk,
                tools if native else (),
                temperature=self.limits.temperature,
                max_tokens=self.limits.max_tokens,
                stop=STOPS[phase.protocol],
            )
            text = reply.text
            calls = await self._turn(phase, reply, tools, talk)
            if reply.finish is Finish.REFUSED:
                raise _End(Outcome.REFUSED, text)
            if not calls:
                if reply.finish is Finish.LENGTH and not self._ends(phase, text):
                    raise _End(Outcome.EXHAUSTED, text, "the reply was cut before it had an answer")
                return text
        raise _End(Outcome.EXHAUSTED, text, f"{self._made(phase)} turns without an answer")

    def _made(self, phase: Phase) -> int:
        return sum(turn.phase == phase.name for turn in self.turns)

    def _turns_left(self, phase: Phase) -> bool:
        """Whether the model may get another turn. A reminder is not counted as one of the arm's turns."""
        most = self.limits.max_turns or phase.max_turns
        return self._made(phase) < most + self._reminded

    def _ends(self, phase: Phase, text: str) -> bool:
        """Whether a reply that was cut has the answer all the same."""
        return (
            phase.output is Output.ANSWER and final_answers(text, self.question.answer_kind, phase.protocol) is not None
        )

    def _check_budget(self, text: str) -> None:
        if self._calls_made > self.limits.max_calls:
            raise _End(Outcome.EXHAUSTED, text, f"{self.limits.max_calls} calls without an answer")
        tokens = sum(turn.tokens.prompt + turn.tokens.completion for turn in self.turns)
        if self.limits.token_budget is not None and tokens >= self.limits.token_budget:
            raise _End(Outcome.EXHAUSTED, text, f"{tokens:,} tokens without an answer")

    async def _turn(self, phase: Phase, reply: Reply, tools: Sequence[Tool], talk: list[Message]) -> Sequence[ToolCall]:
        """Make the calls of a reply, record the turn, and continue the conversation. Returns the calls."""
        made: Sequence[ToolCall] = ()
        if reply.finish is Finish.REFUSED:
            pass  # what it may have begun to call is not made
        elif phase.protocol is Protocol.TAGS:
            made = await self._text_calls(reply, tools, talk)
        else:
            made = await self._native_calls(phase, reply, tools, talk)
        self.turns.append(
            Turn(
                phase=phase.name,
                text=reply.text,
                calls=tuple(made),
                tokens=reply.tokens,
                seconds=reply.seconds,
                finish=reply.finish.value,
            )
        )
        return made

    async def _native_calls(
        self, phase: Phase, reply: Reply, tools: Sequence[Tool], talk: list[Message]
    ) -> Sequence[ToolCall]:
        """The calls of a reply with their answers. One that was cut with the reply is not made."""
        last = len(reply.calls) - 1
        made: list[ToolCall] = []
        for place, request in enumerate(reply.calls):
            if place == last and reply.finish is Finish.LENGTH:
                problem = "The reply was cut within this call. Call again, and write less."
                made.append(ToolCall(tool=request.tool, arguments=request.arguments, result=problem, is_error=True))
            else:
                made.append(await self._call(request.tool, request.arguments, tools, len(made)))
        talk.append(Message(Role.ASSISTANT, reply.text, reply.calls))
        talk += [
            Message(Role.TOOL, call.result, call_id=request.id) for request, call in zip(reply.calls, made, strict=True)
        ]
        if phase.cut_after:
            _cut_back(talk, phase.cut_after, reply.calls, made)
        return made

    @property
    def _calls_made(self) -> int:
        return sum(len(turn.calls) for turn in self.turns)

    async def _text_calls(self, reply: Reply, tools: Sequence[Tool], talk: list[Message]) -> Sequence[ToolCall]:
        """The call that a reply has as text, if it has one before its answer."""
        call = text_call(reply.text)
        if call is None or not tools:
            talk.append(Message(Role.ASSISTANT, reply.text))
            return ()
        by_name = {tool.name: list(tool.input_schema.get("properties", {})) for tool in tools}
        names = by_name.get(call.tool)
        if names is None or len(call.positional) > len(names) or set(names[: len(call.positional)]) & call.named.keys():
            problem = f"This is not a query. Write one of: {', '.join(f'{name}(...)' for name in by_name)}."
            made = ToolCall(tool=call.tool, arguments=call.written, result=problem, is_error=True)
        else:
            arguments = {**dict(zip(names, call.positional, strict=False)), **call.named}
            made = await self._call(call.tool, arguments, tools, 0)
        talk.append(Message(Role.ASSISTANT, until_first_call(reply.text)))
        talk.append(Message(Role.USER, f"<information>\n{made.result}\n</information>"))
        return (made,)

    async def _call(
        self, tool: str, arguments: Mapping[str, Any] | str, tools: Sequence[Tool], before: int
    ) -> ToolCall:
        """A call with its answer, also to what the model got wrong. `before`: earlier calls of this turn."""
        names = [each.name for each in tools]
        if self._calls_made + before >= self.limits.max_calls:
            problem = f"The limit of {self.limits.max_calls} calls is reached. Answer from what you have."
        elif tool not in names:
            problem = f"Unknown tool {tool!r}. The tools are: {', '.join(names) or 'none'}."
        elif isinstance(arguments, str):
            problem = f"The arguments are not a JSON object: {arguments[:200]!r}. Call {tool} again with one."
        else:
            assert self.server is not None
            return await self.server.call(tool, arguments)
        return ToolCall(tool=tool, arguments=arguments, result=problem, is_error=True)

    async def _first_messages(self, phase: Phase) -> list[Message]:
        """The system prompt and the first message of a phase."""
        topics = [entity.id for entity in self.question.topics]
        values = {
            **self._values,
            "question": self.question.text,
            "topics": ", ".join(f"{each.name} ({each.id})" if each.name else each.id for each in self.question.topics)
            or "not given",
            "form": required_form(self.question.answer_kind, phase.protocol),
        }
        parts: list[str] = []
        instructions = ""
        if self.server is not None:
            if phase.instructions:
                instructions = self.server.instructions
            if phase.server_prompt:
                parts.append(await self.server.prompt(phase.server_prompt, self.question.text, topics))
            if phase.wants_schema:
                values["schema"] = await self.server.schema()
        system = "\n\n".join(filter(None, (instructions, _filled(phase.system, values).strip())))
        parts.append(_filled(phase.prompt, values).strip())
        first = Message(Role.USER, "\n\n".join(filter(None, parts)))
        return [*([Message(Role.SYSTEM, system)] if system else []), first]


def _filled(template: str, values: Mapping[str, str]) -> str:
    """A text with values in place of their placeholders. Other braces are text, also those in the values."""
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), template)


def _cut_back(talk: list[Message], tool: str, requests: Sequence[CallRequest], made: Sequence[ToolCall]) -> None:
    """Cut a conversation back to its first messages and the last successful call of a tool with its answer."""
    for request, call in reversed(list(zip(requests, made, strict=True))):
        if call.tool == tool and not call.is_error:
            beginning = talk[: 2 if talk[0].role is Role.SYSTEM else 1]
            last = next(message for message in reversed(talk) if message.role is Role.ASSISTANT)
            talk[:] = [
                *beginning,
                replace(last, calls=(request,)),
                Message(Role.TOOL, call.result, call_id=request.id),
            ]
            return
