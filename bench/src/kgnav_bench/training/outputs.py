"""The folder that a training writes: the model, its settings, the log of its steps and a report.

The settings are written first. A killed training is continued from its last checkpoint by the same command, and refused
with other settings or data.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, Self

SETTINGS_FILE: Final = "training.json"
"""The parameters of the training, which also marks a folder as one of ours."""

LOG_FILE: Final = "log.jsonl"
"""A line for each logged step: its number, loss and learning rate, as TRL logs them."""

REPORT_FILE: Final = "report.md"


class UnusableFolderError(Exception):
    """The folder has a training with other parameters, or other files. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Output:
    """The folder of one training."""

    folder: Path

    @classmethod
    def open(cls, folder: Path, parameters: Mapping[str, Any], *, again: bool) -> Self:
        """Create the folder, or open it if it has a training with the same parameters. `again` empties it first.

        Raises:
            UnusableFolderError: it has other contents.
        """
        path = folder / SETTINGS_FILE
        if folder.exists() and any(folder.iterdir()):
            if not path.is_file():
                raise UnusableFolderError(f"{folder} has files that are not of a training. Name another with --output.")
            if again:
                shutil.rmtree(folder)
            else:
                cls._compare(folder, json.loads(path.read_text(encoding="utf-8")), parameters)
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(parameters, indent=2) + "\n", encoding="utf-8")
        return cls(folder)

    @staticmethod
    def _compare(folder: Path, there: Mapping[str, Any], parameters: Mapping[str, Any]) -> None:
        names = [name for name in {**there, **parameters} if there.get(name) != parameters.get(name)]
        if names:
            differing = "; ".join(f"{name} {there.get(name)!r}, not {parameters.get(name)!r}" for name in names)
            raise UnusableFolderError(
                f"{folder} has a training with other parameters: {differing[:200]}. Name another folder with "
                "--output, or discard this training with --again."
            )

    @property
    def finished(self) -> bool:
        """Whether the training has ended: its report is written last."""
        return (self.folder / REPORT_FILE).is_file()

    @property
    def checkpoint(self) -> Path | None:
        """The newest complete checkpoint: its last file is the trainer's state."""
        found = [path.parent for path in self.folder.glob("checkpoint-*/trainer_state.json")]
        return max(found, key=lambda path: int(path.name.rpartition("-")[2]), default=None)

    def write_log(self, entries: Iterable[Mapping[str, Any]]) -> None:
        """Write the logged steps."""
        lines = (json.dumps(entry) + "\n" for entry in entries)
        (self.folder / LOG_FILE).write_text("".join(lines), encoding="utf-8")

    def write_report(self, text: str) -> None:
        """Write the report, after which the training is finished."""
        (self.folder / REPORT_FILE).write_text(f"{text}\n", encoding="utf-8")

    def report(self) -> str:
        """The report of a finished training."""
        return (self.folder / REPORT_FILE).read_text(encoding="utf-8").rstrip("\n")


def trained_stage(model: str) -> str | None:
    """The stage whose result a model folder is; None if this command has not trained it."""
    path = Path(model) / SETTINGS_FILE
    return json.loads(path.read_text(encoding="utf-8")).get("stage") if path.is_file() else None


def fingerprint(files: Sequence[Path]) -> dict[str, str]:
    """The names and hashes of the data files, by which a continued training checks that it has the same data."""
    return {path.name: blake2b(path.read_bytes(), digest_size=16).hexdigest() for path in files}
