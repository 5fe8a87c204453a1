"""The settings of a training: the paper's hyperparameters, overridden by a TOML file, then by flags.

Source: GraphWalker, section 2.3 and appendix G with table 12. A value that the paper does not state has its reason
beside it.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

OUTPUTS: Final = Path("training")
"""Folder of the trained models without --output, one folder for each stage."""

BASE_MODEL: Final = "Qwen/Qwen2.5-3B-Instruct"
"""The smallest of the paper's three models (section 3.1)."""


class UnusableSettingsError(Exception):
    """A setting is unknown or has an invalid value. The message names it and the valid ones."""


class Stage(StrEnum):
    """The stages of GraphWalker's fine-tuning (section 2.3)."""

    GRAPHSYNTH = "graphsynth"
    """The first: synthetic walks, for exploration."""
    GRAPHROLL = "graphroll"
    """The second: an expert's attempts with errors and their recovery."""


class Settings(BaseModel):
    """The settings that both kinds of training share."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    """Folder of a model, or its name on the hub."""
    learning_rate: float = Field(gt=0)
    device_batch_size: int = Field(default=1, gt=0)
    """Conversations that one device processes at a time. It decides memory and speed, not the result."""
    max_steps: int = Field(default=-1, ge=-1)
    """Optimizer steps after which training ends; -1: after the epochs."""
    save_steps: int = Field(default=50, gt=0)
    """Steps between two checkpoints. A killed training continues from the last one."""
    seed: int = 42
    observation_role: Literal["user", "tool"] = "user"
    """The chat template's role of tool answers: `tool` only for templates that have it."""
    trl: Mapping[str, Any] = Field(default_factory=dict[str, Any])
    """Further arguments of TRL's configuration, by their names in TRL."""


class SftSettings(Settings):
    """One stage of fine-tuning. The paper has one set of values for both stages."""

    learning_rate: float = Field(default=1e-5, gt=0)
    schedule: str = "cosine"
    batch_size: int = Field(default=32, gt=0)
    """Conversations in an optimizer step."""
    epochs: float = Field(default=2, gt=0)
    max_length: int = Field(default=4096, gt=0)
    """Maximum tokens of a conversation."""


class GrpoSettings(Settings):
    """GRPO with exact match as the reward."""

    learning_rate: float = Field(default=1e-6, gt=0)
    schedule: str = "constant"
    """Not in the paper."""
    batch_size: int = Field(default=512, gt=0)
    """Attempts in an optimizer step: 64 questions with 8 attempts each."""
    attempts: int = Field(default=8, ge=2)
    """Attempts at a question, between which the reward is normalized."""
    max_prompt_length: int = Field(default=4096, gt=0)
    max_response_length: int = Field(default=8192, gt=0)
    """Maximum tokens after the prompt, tool answers included."""
    kl: float = Field(default=0.001, ge=0)
    """Weight of the KL divergence from the model before GRPO."""
    temperature: float = Field(default=1.0, gt=0)
    max_steps: int = Field(default=100, ge=-1)
    max_turns: int = Field(default=10, gt=0)
    """Turns of an attempt (section 3.1)."""
    ranked: bool = True
    """Whether the server ranks relations by the question (appendix F.2)."""
    reward: Literal["exact_match", "set_match"] = "exact_match"
    """The criterion of `kgnav-bench score`: any given answer is true, or the given answers are exactly the true ones.
    """
    sample: int = Field(default=6400, gt=0)
    """Questions that are drawn at random."""


S = TypeVar("S", bound=Settings)


def resolve(kind: type[S], tables: tuple[str, ...], file: Path | None, flags: Mapping[str, object], model: str) -> S:
    """The settings of a training.

    Args:
        kind: SftSettings or GrpoSettings, which has the defaults.
        tables: names of the file's tables, outer ones first, such as `sft` and in it `graphroll`. An inner table wins.
        file: TOML file.
        flags: values from the command line, which take precedence over the file; None is no value.
        model: the model without any setting.

    Raises:
        UnusableSettingsError: the file is not TOML, or a setting is unknown or impossible.
    """
    given: dict[str, object] = {"model": model}
    if file is not None:
        given |= _from_file(file, tables, kind)
    given |= {name: value for name, value in flags.items() if value is not None}
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(map(str, first["loc"]))
        if first["type"] == "extra_forbidden":
            raise UnusableSettingsError(_unknown(name, kind)) from error
        raise UnusableSettingsError(f"setting {name}: {first['msg']}, not {first['input']!r}.") from error


def _from_file(file: Path, tables: tuple[str, ...], kind: type[Settings]) -> dict[str, object]:
    try:
        table: object = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UnusableSettingsError(
            f"{file} is not TOML: {error}. Settings are lines such as max_length = 8192 "
            f"below a line [{'.'.join(tables)}]."
        ) from error
    others = {"sft", "grpo"}
    if unknown := sorted(cast("dict[str, object]", table).keys() - others):
        raise UnusableSettingsError(
            f"{file} has {unknown[0]!r} outside of its tables. Its tables are [sft], [sft.graphsynth], "
            "[sft.graphroll] and [grpo]."
        )
    given: dict[str, object] = {}
    for name in tables:
        table = cast("dict[str, object]", table).get(name, {})
        if not isinstance(table, dict):
            raise UnusableSettingsError(_unknown(name, kind))
        inner = set(Stage) if name == "sft" else set[str]()
        given |= {key: value for key, value in cast("dict[str, object]", table).items() if key not in inner}
    return given


def _unknown(name: str, kind: type[Settings]) -> str:
    return f"unknown setting {name!r}; known: {', '.join(kind.model_fields)}. TRL's own go into the table trl."


def processes() -> int:
    """Number of processes that train together, as `accelerate launch` and `torchrun` set it."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def accumulation_steps(settings: SftSettings | GrpoSettings) -> int:
    """The number of device batches that make up an optimizer step.

    Raises:
        UnusableSettingsError: the batch size is not a multiple of what the devices process at a time.
    """
    at_once = settings.device_batch_size * processes()
    steps, rest = divmod(settings.batch_size, at_once)
    if rest or not steps:
        raise UnusableSettingsError(
            f"batch_size {settings.batch_size} is not a multiple of device_batch_size x processes = "
            f"{settings.device_batch_size} x {processes()}. Choose a device_batch_size that divides it."
        )
    return steps
