"""A BERT of two small layers with weights by chance, and the same computed by numpy, step by step."""

from __future__ import annotations

import json
from math import erf
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file  # pyright: ignore[reportUnknownVariableType] - of its path argument
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import BertProcessing

Array = NDArray[np.float32]

HIDDEN, HEADS, LAYERS, WIDE, LONGEST = 8, 2, 2, 16, 12
WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "place", "of", "birth", "film", "##s")


def write_model(folder: Path, **config: object) -> dict[str, Array]:
    """The model's three files; answers its weights."""
    weights = _weights(np.random.default_rng(7))
    save_file(weights, folder / "model.safetensors")
    sizes: dict[str, object] = {
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": HIDDEN,
        "num_attention_heads": HEADS,
        "num_hidden_layers": LAYERS,
        "max_position_embeddings": LONGEST,
        "layer_norm_eps": 1e-12,
    }
    (folder / "config.json").write_text(json.dumps({**sizes, **config}), encoding="utf-8")
    tokenizer: Any = Tokenizer(WordPiece({word: n for n, word in enumerate(WORDS)}, unk_token="[UNK]"))  # noqa: S106
    tokenizer.normalizer = BertNormalizer()
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.save(str(folder / "tokenizer.json"))
    return weights


def _weights(chance: np.random.Generator) -> dict[str, Array]:
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(WORDS), HIDDEN),
        "embeddings.position_embeddings.weight": (LONGEST, HIDDEN),
        "embeddings.token_type_embeddings.weight": (2, HIDDEN),
        **_both("embeddings.LayerNorm", (HIDDEN,)),
    }
    for n in range(LAYERS):
        layer = f"encoder.layer.{n}"
        for part in ("query", "key", "value"):
            shapes |= _both(f"{layer}.attention.self.{part}", (HIDDEN, HIDDEN))
        shapes |= _both(f"{layer}.attention.output.dense", (HIDDEN, HIDDEN))
        shapes |= _both(f"{layer}.attention.output.LayerNorm", (HIDDEN,))
        shapes |= _both(f"{layer}.intermediate.dense", (WIDE, HIDDEN))
        shapes |= _both(f"{layer}.output.dense", (HIDDEN, WIDE))
        shapes |= _both(f"{layer}.output.LayerNorm", (HIDDEN,))
    return {name: chance.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def _both(name: str, shape: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": shape, f"{name}.bias": shape[:1]}


def computed(weights: dict[str, Array], ids: list[int]) -> Array:
    """The unit vector of a text of these tokens."""

    def linear(x: Array, name: str) -> Array:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def normalised(x: Array, name: str) -> Array:
        spread = np.sqrt(x.var(axis=-1, keepdims=True) + 1e-12)
        return (x - x.mean(axis=-1, keepdims=True)) / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    words = weights["embeddings.word_embeddings.weight"][ids]
    places = weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = normalised(words + places + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for n in range(LAYERS):
        layer = f"encoder.layer.{n}"
        query, key, value = (linear(x, f"{layer}.attention.self.{part}") for part in ("query", "key", "value"))
        heads: list[Array] = []
        for head in np.split(np.arange(HIDDEN), HEADS):
            scores = np.exp(query[:, head] @ key[:, head].T / np.sqrt(HIDDEN / HEADS))
            heads.append(scores / scores.sum(axis=-1, keepdims=True) @ value[:, head])
        mixed = linear(np.concatenate(heads, axis=-1), f"{layer}.attention.output.dense")
        x = normalised(x + mixed, f"{layer}.attention.output.LayerNorm")
        wide = linear(x, f"{layer}.intermediate.dense")
        wide = wide * (1 + np.vectorize(erf)(wide / np.sqrt(2))) / 2
        x = normalised(x + linear(wide, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
    mean = x.mean(axis=0)
    return (mean / np.linalg.norm(mean)).astype(np.float32)
