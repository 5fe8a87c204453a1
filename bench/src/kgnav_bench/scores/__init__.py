"""Scores attempts at questions with the metrics of the five papers: per attempt, per arm, and arm against arm.

`scoring.score_attempt` compares one attempt with its question, `summary.summarize` averages over repeats and questions.
"""
