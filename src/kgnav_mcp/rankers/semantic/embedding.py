"""Turns a text into a vector that represents its meaning: BERT as a sentence encoder, written as an ONNX graph."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self, cast

import numpy as np
import onnxruntime  # pyright: ignore[reportMissingTypeStubs] - it has none
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper
from safetensors.numpy import load_file  # pyright: ignore[reportUnknownVariableType] - of its path argument
from tokenizers import Tokenizer

from kgnav_mcp.errors import ConfigurationError

CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"
INPUT, OUTPUT = "ids", "embedding"

_OPSET, _IR_VERSION = 20, 9
"""The first operator set with GELU and its file version, so that even the oldest suitable runtimes run the graph."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a BERT model, named as in its configuration file."""

    hidden_size: int
    num_attention_heads: int
    num_hidden_layers: int
    max_position_embeddings: int
    layer_norm_eps: float

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The shape of the model in `folder`.

        Raises:
            ConfigurationError: it is not a BERT with absolute positions and GELU, the only kind this graph computes.
        """
        config: dict[str, Any] = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        kind = (config.get("model_type"), config.get("hidden_act"), config.get("position_embedding_type", "absolute"))
        if kind != ("bert", "gelu", "absolute"):
            raise ConfigurationError(f"the sentence model in {folder} is not of the kind that can be run: {kind}")
        return cls(**{name: config[name] for name in cls.__dataclass_fields__})


def build(folder: Path) -> bytes:
    """The model in `folder` as a serialised ONNX model.

    Raises:
        ConfigurationError: the model is of a kind that this graph does not compute.
    """
    shape = Shape.read(folder)
    graph = _Graph(load_file(folder / WEIGHTS))
    tokens = graph.embedded()
    tokens = graph.normalised(tokens, "embeddings.LayerNorm", shape)
    for number in range(shape.num_hidden_layers):
        tokens = graph.layer(tokens, f"encoder.layer.{number}", shape)
    mean = graph.node("ReduceMean", tokens, graph.integers(0), keepdims=0)
    graph.node("LpNormalization", mean, output=OUTPUT, axis=0, p=2)
    return graph.serialised(shape)


class _Graph:
    """A builder of an ONNX graph. Every method adds nodes and returns the name of their result."""

    def __init__(self, weights: Mapping[str, NDArray[Any]]) -> None:
        self._weights = weights
        self._nodes: list[NodeProto] = []
        self._constants: dict[str, TensorProto] = {}

    def node(self, operator: str, *inputs: str, output: str = "", **attributes: float | tuple[int, ...]) -> str:
        """The result of an ONNX operator."""
        output = output or f"{operator}{len(self._nodes)}"
        node = helper.make_node(operator, inputs, [output], None, None, None, None, **attributes)
        self._nodes.append(node)
        return output

    def integers(self, *values: int) -> str:
        """A constant: a shape, axes or indexes."""
        return self._constant(f"integers{values}", np.array(values, dtype=np.int64))

    def embedded(self) -> str:
        """[n, hidden]: word, position and segment embeddings added up; a single text is all of segment 0."""
        segment = self._weights["embeddings.token_type_embeddings.weight"][0]
        positions = self._weights["embeddings.position_embeddings.weight"] + segment
        places = self.node("Slice", self._constant("places", positions), self.integers(0), self.node("Shape", INPUT))
        return self.node("Add", self.node("Gather", self._weight("embeddings.word_embeddings.weight"), INPUT), places)

    def layer(self, tokens: str, name: str, shape: Shape) -> str:
        """One transformer layer: attention and feed-forward, each added to its input and normalised."""
        mixed = self._linear(self._attention(tokens, f"{name}.attention.self", shape), f"{name}.attention.output.dense")
        tokens = self.normalised(self.node("Add", mixed, tokens), f"{name}.attention.output.LayerNorm", shape)
        wide = self.node("Gelu", self._linear(tokens, f"{name}.intermediate.dense"))
        narrow = self._linear(wide, f"{name}.output.dense")
        return self.normalised(self.node("Add", narrow, tokens), f"{name}.output.LayerNorm", shape)

    def normalised(self, tokens: str, name: str, shape: Shape) -> str:
        """Layer normalisation."""
        scale, bias = self._weight(f"{name}.weight"), self._weight(f"{name}.bias")
        return self.node("LayerNormalization", tokens, scale, bias, epsilon=shape.layer_norm_eps)

    def serialised(self, shape: Shape) -> bytes:
        """The whole graph with its weights."""
        graph = helper.make_graph(
            self._nodes,
            "sentence_encoder",
            [helper.make_tensor_value_info(INPUT, TensorProto.INT64, ["n"])],
            [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, [shape.hidden_size])],
            list(self._constants.values()),
        )
        opset = helper.make_opsetid("", _OPSET)
        return helper.make_model(graph, opset_imports=[opset], ir_version=_IR_VERSION).SerializeToString()

    def _attention(self, tokens: str, name: str, shape: Shape) -> str:
        """Scaled dot-product attention between all tokens, separately for each head."""
        width = shape.hidden_size // shape.num_attention_heads
        query, key, value = (
            self.node(
                "Transpose",
                self.node(
                    "Reshape",
                    self._linear(tokens, f"{name}.{part}"),
                    self.integers(-1, shape.num_attention_heads, width),
                ),
                perm=axes,
            )
            for part, axes in (("query", (1, 0, 2)), ("key", (1, 2, 0)), ("value", (1, 0, 2)))
        )
        scale = self._constant("scale", np.array(width**-0.5, dtype=np.float32))
        attention = self.node("Softmax", self.node("Mul", self.node("MatMul", query, key), scale), axis=-1)
        mixed = self.node("Transpose", self.node("MatMul", attention, value), perm=(1, 0, 2))
        return self.node("Reshape", mixed, self.integers(-1, shape.hidden_size))

    def _linear(self, tokens: str, name: str) -> str:
        return self.node("Gemm", tokens, self._weight(f"{name}.weight"), self._weight(f"{name}.bias"), transB=1)

    def _weight(self, name: str) -> str:
        return self._constant(name, self._weights[name])

    def _constant(self, name: str, array: NDArray[Any]) -> str:
        self._constants.setdefault(name, numpy_helper.from_array(array, name))
        return name


Vector = NDArray[np.float32]

_LONGEST = 256
"""Tokens of a text that are read at most; the model was not trained on more."""


class _Session(Protocol):
    """The part of ONNX Runtime that is used. The package has no types."""

    def run(self, outputs: Sequence[str], inputs: dict[str, NDArray[Any]]) -> list[Vector]: ...


class Embedder:
    """A sentence model in memory. Slow to create and blocking to use: do both in a thread. Safe for several threads."""

    def __init__(self, folder: Path) -> None:
        self.model = f"all-MiniLM-L6-v2, {(folder / WEIGHTS).stat().st_size} bytes"
        longest = min(_LONGEST, Shape.read(folder).max_position_embeddings)
        self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(longest)  # pyright: ignore[reportUnknownMemberType] - its **kwargs
        runtime = cast("Any", onnxruntime)
        options = runtime.SessionOptions()
        # Texts are short: a second thread costs more than it gains. A single one adds floats always in the same order.
        options.intra_op_num_threads = 1
        self._session: _Session = runtime.InferenceSession(build(folder), options, providers=["CPUExecutionProvider"])

    def __call__(self, text: str) -> Vector:
        """The text's unit vector. The dot product of two vectors is the similarity of the meanings, from -1 to 1."""
        ids = np.array(self._tokenizer.encode(text).ids, dtype=np.int64)
        return self._session.run([OUTPUT], {INPUT: ids})[0]
