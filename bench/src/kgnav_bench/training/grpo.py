"""GRPO on the live server with exact match as the reward, on TRL's GRPOTrainer (GraphWalker, section 2.3, eq. 3 and 4).

TRL takes a function that makes the attempts, `rollout_func`, and excludes tokens from the loss that it marks as the
environment's. TRL's own loop of tool calls is not used: it needs a chat template with tool calls that it can parse, and
GraphWalker's calls are text between tags.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from kgnav_bench import report
from kgnav_bench.records import Attempt, Outcome, Question, UnreadableRecordsError, read_records
from kgnav_bench.scores.scoring import score_attempt
from kgnav_bench.training.conversations import Message
from kgnav_bench.training.environment import Environment, prompt
from kgnav_bench.training.masks import Tokenizer, render
from kgnav_bench.training.outputs import Output
from kgnav_bench.training.packages import package
from kgnav_bench.training.preview import UnusableDataError, settings_table
from kgnav_bench.training.rollouts import Generate, Rollouts, as_trl_takes_them
from kgnav_bench.training.settings import GrpoSettings, accumulation_steps
from kgnav_bench.training.sft import common_arguments, finish

ARM = "grpo"
"""Name of the attempts' arm where they are scored."""


def draw(path: Path, settings: GrpoSettings) -> list[Question]:
    """The questions to train on: `sample` of them at random, or all in random order if there are fewer.

    Raises:
        UnusableDataError: a line is not a question, two have the same id, or no question has an answer.
    """
    try:
        everything = list(read_records(path, Question))
    except UnreadableRecordsError as error:
        raise UnusableDataError(f"{error}. Questions are written by kgnav-bench dataset.") from error
    questions = [question for question in everything if question.answers]
    if not questions:
        raise UnusableDataError(f"{path} has no questions with answers. Write some: kgnav-bench dataset --help")
    if len({question.id for question in questions}) < len(questions):
        raise UnusableDataError(f"{path} has several questions with the same id. Take one split of one dataset.")
    chance = random.Random(settings.seed)  # noqa: S311 - a sample, not a secret
    return chance.sample(questions, min(settings.sample, len(questions)))


def prompt_lengths(questions: Sequence[Question], settings: GrpoSettings, tokenizer: Tokenizer) -> list[int]:
    """The number of tokens of each prompt.

    Raises:
        UnusableDataError: one is longer than `max_prompt_length`.
    """
    lengths = [
        len(tokenizer(text, add_special_tokens=False, return_offsets_mapping=False)["input_ids"])
        for text in (render(prompt(question), tokenizer, prompt=True) for question in questions)
    ]
    if long := sum(length > settings.max_prompt_length for length in lengths):
        raise UnusableDataError(
            f"{long:,} of {len(lengths):,} prompts are longer than {settings.max_prompt_length:,} tokens, the longest "
            f"has {max(lengths):,}. Raise max_prompt_length."
        )
    return lengths


def preview(questions: Sequence[Question], settings: GrpoSettings, tokenizer: Tokenizer) -> str:
    """The text that a dry run prints: the settings, the lengths of the prompts, and the first prompt."""
    lengths = prompt_lengths(questions, settings, tokenizer)
    rows = [("questions", f"{len(questions):,}"), ("tokens of the longest prompt", f"{max(lengths):,}")]
    first = render(prompt(questions[0]), tokenizer, prompt=True)
    return "\n".join(
        (settings_table(settings), "", report.table(("data", "count"), rows), "", "The first prompt:", "", first)
    )


def reward(question: Question, answers: tuple[str, ...] | None, sense: str) -> float:
    """1 if the answers are right, otherwise 0 (equation 3). `sense` is the criterion, as in `kgnav-bench score`."""
    outcome = Outcome.UNREADABLE if answers is None else Outcome.ANSWERED
    attempt = Attempt(question=question.id, arm=ARM, outcome=outcome, answers=answers or ())
    return float(getattr(score_attempt(question, attempt), sense))


def rewarding(questions: Sequence[Question], settings: GrpoSettings) -> Callable[..., list[float]]:
    """The reward function as TRL calls it, with a list for each column of the data and each field of the attempts."""
    by_id = {question.id: question for question in questions}

    def exact_match(
        *, question: Sequence[str], predicted: Sequence[tuple[str, ...] | None], **_: object
    ) -> list[float]:
        pairs = zip(question, predicted, strict=True)
        return [reward(by_id[key], answers, settings.reward) for key, answers in pairs]

    return exact_match


def configuration(settings: GrpoSettings, output: Output, *, progress: bool) -> Any:  # noqa: ANN401 - TRL's
    """TRL's configuration. The settings' table `trl` is added last."""
    return package("trl").GRPOConfig(
        **{
            **common_arguments(settings, output, progress=progress),
            "gradient_accumulation_steps": accumulation_steps(settings),
            "lr_scheduler_type": settings.schedule,
            "num_generations": settings.attempts,
            "max_completion_length": settings.max_response_length,
            "temperature": settings.temperature,
            "beta": settings.kl,
            "loss_type": "grpo",  # the mean over an attempt's tokens, then over attempts: equation 4
            **settings.trl,
        }
    )


def generating(trainer: Any) -> Generate:  # noqa: ANN401 - TRL's
    """The function by which TRL's trainer continues tokens, with vLLM or transformers as it is configured."""

    def generate(prompts: list[list[int]]) -> tuple[list[list[int]], list[list[float]] | None]:
        # TRL has no public way to generate inside rollout_func. This is what its own loop of tool calls uses, and why
        # the extra `train` takes one minor version of TRL only.
        return trainer._generate_single_turn(prompts, None, {}, 1)

    return generate


def run(
    settings: GrpoSettings,
    graph: str,
    questions: Sequence[Question],
    tokenizer: Tokenizer,
    output: Output,
    *,
    progress: bool,
) -> str:
    """Train, from the last checkpoint if there is one. Returns the report, which is also in the output's folder."""
    if output.finished:
        return output.report()
    start = perf_counter()
    rows: list[Mapping[str, Any]] = [{"prompt": prompt(question), "question": question.id} for question in questions]
    with Environment(graph, questions, ranked=settings.ranked) as environment:
        rollouts = Rollouts(tokenizer, environment.react, settings)

        def roll_out(prompts: list[list[Message]], trainer: Any) -> dict[str, Any]:  # noqa: ANN401 - TRL's
            attempts = rollouts.run(prompts, generating(trainer))
            return as_trl_takes_them(attempts, with_logprobs=trainer.use_vllm)

        trainer = package("trl").GRPOTrainer(
            model=settings.model,
            reward_funcs=rewarding(questions, settings),
            args=configuration(settings, output, progress=progress),
            train_dataset=package("datasets").Dataset.from_list(rows),
            processing_class=tokenizer,
            rollout_func=roll_out,
        )
        heading = f"# GRPO\n\n{settings_table(settings)}\n\n{len(questions):,} questions"
        return finish(trainer, output, heading, "reward", start)
