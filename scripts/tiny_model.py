"""A language model with random weights and a tokenizer trained on given texts: small enough to train on a processor."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""ChatML."""

_END, _PAD = "<|im_end|>", "<|endoftext|>"
_CONTEXT = 4096


def make(folder: Path, texts: Iterable[str], vocabulary: int = 600) -> Path:
    """Write the model and its tokenizer, a byte-level BPE with so many tokens, to a folder. Returns the folder."""
    tokenizer = _tokenizer(texts, vocabulary)
    transformers, torch = import_module("transformers"), import_module("torch")
    torch.manual_seed(1)
    config = transformers.Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=_CONTEXT,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    transformers.Qwen2ForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _tokenizer(texts: Iterable[str], vocabulary: int) -> Any:  # noqa: ANN401 - a tokenizer of transformers
    tokenizers, transformers = import_module("tokenizers"), import_module("transformers")
    bpe = tokenizers.Tokenizer(tokenizers.models.BPE())
    bpe.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[_PAD, "<|im_start|>", _END],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator(texts, trainer)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        eos_token=_END,
        pad_token=_PAD,
        additional_special_tokens=["<|im_start|>"],
        chat_template=CHAT_TEMPLATE,
        model_max_length=_CONTEXT,
    )
