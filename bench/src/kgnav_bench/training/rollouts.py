"""Attempts at questions by the model in training, in conversation with the server.

Tokens are appended, never encoded again from text: those of the model stay as they were sampled, and between its turns
are those that the chat template adds, including the server's answer. `env_mask` tells TRL which tokens are the model's
own; the others have neither loss nor a weight in the policy's ratio.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from kgnav_bench.training.conversations import Message
from kgnav_bench.training.environment import Reaction
from kgnav_bench.training.masks import Tokenizer, UnusableTemplateError, render
from kgnav_bench.training.settings import GrpoSettings

Generate = Callable[[list[list[int]]], tuple[list[list[int]], list[list[float]] | None]]
"""Continues each list of tokens up to an end token.

The second part of the result has the logarithms of their probabilities, if the engine gives them.
"""

React = Callable[[Sequence[Message], str], Reaction]
"""The reaction to the model's turn, given the prompt of its conversation."""

_ANSWER: Final = "x"
"""Stands for the model's turn where only what the template puts after it is of interest."""


@dataclass(slots=True)
class Attempt:
    """One attempt at a question."""

    prompt: Sequence[Message]
    prompt_ids: list[int]
    ids: list[int] = field(default_factory=list[int])
    """All tokens after the prompt."""
    own: list[int] = field(default_factory=list[int])
    """1 for each token that the model wrote, 0 for others."""
    logprobs: list[float] = field(default_factory=list[float])
    """The logarithm of each token's probability; 0 for tokens that the model did not write."""
    answers: tuple[str, ...] | None = None
    """The final answer; None if there is none."""
    calls: int = 0
    ended: bool = False


class Rollouts:
    """Makes attempts, all prompts at once, turn by turn."""

    def __init__(self, tokenizer: Tokenizer, react: React, settings: GrpoSettings) -> None:
        self._tokenizer = tokenizer
        self._react = react
        self._settings = settings

    def run(self, prompts: Sequence[Sequence[Message]], generate: Generate) -> list[Attempt]:
        """One attempt at each prompt."""
        attempts = [Attempt(prompt, self._ids(render(prompt, self._tokenizer, prompt=True))) for prompt in prompts]
        for turn in range(1, self._settings.max_turns + 1):
            active = [attempt for attempt in attempts if not attempt.ended]
            if not active:
                break
            written, logprobs = generate([attempt.prompt_ids + attempt.ids for attempt in active])
            for place, attempt in enumerate(active):
                self._add(attempt, written[place], logprobs[place] if logprobs else None)
                if not attempt.ended:
                    self._answer(attempt, written[place], last=turn == self._settings.max_turns)
        return attempts

    def _add(self, attempt: Attempt, written: list[int], logprobs: list[float] | None) -> None:
        """Append what the model wrote. An attempt that is longer than allowed is cut there and ends."""
        room = self._settings.max_response_length - len(attempt.ids)
        attempt.ended = len(written) > room
        kept = written[:room]
        attempt.ids += kept
        attempt.own += [1] * len(kept)
        attempt.logprobs += logprobs[:room] if logprobs else [0.0] * len(kept)

    def _answer(self, attempt: Attempt, written: list[int], *, last: bool) -> None:
        """End the attempt with an answer, or without one; or append what the server answers."""
        end = len(written) - (written[-1:] == self._between(attempt.prompt, "")[:1])
        reaction = self._react(attempt.prompt, self._tokenizer.decode(written[:end]))
        attempt.answers = reaction.answers
        attempt.calls += reaction.called
        if reaction.observation is None or last:
            attempt.ended = True
            return
        between = self._between(attempt.prompt, reaction.observation)
        if written[-1:] == between[:1]:  # the model ended its turn itself
            between = between[1:]
        if len(attempt.ids) + len(between) >= self._settings.max_response_length:
            attempt.ended = True
            return
        attempt.ids += between
        attempt.own += [0] * len(between)
        attempt.logprobs += [0.0] * len(between)

    def _between(self, prompt: Sequence[Message], observation: str) -> list[int]:
        """The tokens from the end of a turn of the model to the beginning of its next."""
        answer: Message = {"role": "assistant", "content": _ANSWER}
        shown: Message = {
            "role": self._settings.observation_role,
            "content": observation,
        }
        before = render(prompt, self._tokenizer, prompt=True) + _ANSWER
        text = render([*prompt, answer, shown], self._tokenizer, prompt=True)
        if not text.startswith(before):
            raise UnusableTemplateError(
                "this model's chat template changes the prompt or an answer when messages follow. Choose another model."
            )
        return self._ids(text[len(before) :])

    def _ids(self, text: str) -> list[int]:
        return self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=False)["input_ids"]


def as_trl_takes_them(attempts: Sequence[Attempt], *, with_logprobs: bool) -> dict[str, Any]:
    """The attempts in the form that TRL's `rollout_func` must return. `predicted` is for the reward."""
    return {
        "prompt_ids": [attempt.prompt_ids for attempt in attempts],
        "completion_ids": [attempt.ids for attempt in attempts],
        "logprobs": [attempt.logprobs for attempt in attempts] if with_logprobs else None,
        "env_mask": [attempt.own for attempt in attempts],
        "predicted": [attempt.answers for attempt in attempts],
        "calls": [attempt.calls for attempt in attempts],
    }
