"""Explanations of an answer: why it is empty, and which rows its order leaves undetermined."""
