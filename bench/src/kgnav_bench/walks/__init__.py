"""Random walks over a knowledge graph as training data for agents (GraphWalker, section 2.2)."""
