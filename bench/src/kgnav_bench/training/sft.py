"""One stage of GraphWalker's fine-tuning, on TRL's SFTTrainer (GraphWalker, section 2.3 and equation 2)."""

from __future__ import annotations

import warnings
from pathlib import Path
from time import perf_counter
from typing import Any

from kgnav_bench.training.masks import NO_LOSS, Tokenizer
from kgnav_bench.training.outputs import Output
from kgnav_bench.training.packages import package
from kgnav_bench.training.preview import Examples, UnusableDataError, settings_table, token_table
from kgnav_bench.training.settings import Settings, SftSettings, accumulation_steps


def load_tokenizer(model: str) -> Tokenizer:
    """Load the tokenizer of a model.

    Raises:
        MissingPackageError: the extra `train` is not installed.
        UnusableDataError: there is no such model, or it cannot be fetched.
    """
    transformers = package("transformers")
    try:
        return transformers.AutoTokenizer.from_pretrained(model)
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise UnusableDataError(
            f"the model {model} cannot be read: {reason} Name a folder or a model of the hub with --model."
        ) from error


def be_quiet(*, progress: bool) -> None:
    """Turn off the progress bars of libraries unless `progress`, and TRL's warnings that concern its own code."""
    # TRL 1.16 sets and calls what transformers 5.24 has renamed to activation_checkpointing.
    warnings.filterwarnings("ignore", ".*gradient_checkpointing.* is deprecated", FutureWarning)
    warnings.filterwarnings("ignore", "You are using 'rollout_func', which is an experimental", UserWarning)
    if not progress:
        package("transformers").utils.logging.disable_progress_bar()
        package("datasets").disable_progress_bars()


def common_arguments(settings: Settings, output: Output, *, progress: bool) -> dict[str, Any]:
    """The arguments of TRL's configurations that both kinds of training share."""
    be_quiet(progress=progress)
    torch = package("torch")
    gpu = bool(torch.cuda.is_available())
    return {
        "output_dir": str(output.folder),
        "learning_rate": settings.learning_rate,
        "per_device_train_batch_size": settings.device_batch_size,
        "max_steps": settings.max_steps,
        "save_steps": settings.save_steps,
        "save_total_limit": 1,
        "seed": settings.seed,
        "logging_steps": 1,
        "report_to": "none",
        "disable_tqdm": not progress,
        "use_cpu": not gpu,
        "bf16": gpu and bool(torch.cuda.is_bf16_supported()),
        "dataloader_pin_memory": gpu,
    }


def configuration(settings: SftSettings, output: Output, *, progress: bool) -> Any:  # noqa: ANN401 - TRL's
    """TRL's configuration of a stage. The settings' table `trl` is added last."""
    return package("trl").SFTConfig(
        **{
            **common_arguments(settings, output, progress=progress),
            "gradient_accumulation_steps": accumulation_steps(settings),
            "lr_scheduler_type": settings.schedule,
            "num_train_epochs": settings.epochs,
            "max_length": settings.max_length,
            **settings.trl,
        }
    )


def make_trainer(
    settings: SftSettings, examples: Examples, tokenizer: Tokenizer, output: Output, *, progress: bool
) -> Any:  # noqa: ANN401 - TRL's
    """TRL's trainer of these conversations.

    Raises:
        RuntimeError: TRL changed the labels while it prepared the data.
    """
    rows = [{"input_ids": example.ids, "labels": example.labels} for example in examples]
    trainer = package("trl").SFTTrainer(
        model=settings.model,
        args=configuration(settings, output, progress=progress),
        train_dataset=package("datasets").Dataset.from_list(rows),
        processing_class=tokenizer,
    )
    prepared = sum(label != NO_LOSS for row in trainer.train_dataset for label in row["labels"])
    if prepared != examples.loss_tokens:
        raise RuntimeError(f"TRL trains on {prepared} tokens, not on the {examples.loss_tokens} of the answers")
    return trainer


def run(
    settings: SftSettings, stage: str, examples: Examples, tokenizer: Tokenizer, output: Output, *, progress: bool
) -> str:
    """Train, from the last checkpoint if there is one. Returns the report, which is also in the output's folder."""
    if output.finished:
        return output.report()
    start = perf_counter()
    trainer = make_trainer(settings, examples, tokenizer, output, progress=progress)
    return finish(
        trainer,
        output,
        f"# Fine-tuning, stage {stage}\n\n{settings_table(settings)}\n\n{token_table(examples)}",
        "loss",
        start,
    )


def finish(trainer: Any, output: Output, heading: str, measure: str, start: float) -> str:  # noqa: ANN401 - TRL's
    """Train, write the model, the log and the report, and return the report, with the first and last measure."""
    checkpoint: Path | None = output.checkpoint
    trainer.remove_callback(package("transformers").PrinterCallback)  # the log is a file, the report is printed
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    trainer.save_model(str(output.folder))
    history: list[dict[str, Any]] = trainer.state.log_history
    text = heading
    if trainer.is_world_process_zero():
        output.write_log(history)
        values = [entry[measure] for entry in history if measure in entry]
        text += (
            f"\n\n{trainer.state.global_step:,} optimizer steps in {perf_counter() - start:.0f} s"
            f"{f', continued from {checkpoint.name}' if checkpoint else ''}; "
            f"{measure} {values[0]:.4g} at the first, {values[-1]:.4g} at the last."
        )
        output.write_report(text)
    return text
