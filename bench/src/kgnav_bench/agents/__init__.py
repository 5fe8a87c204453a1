"""Runs language models with the tools of the server: one loop for all, and an arm (a configuration) for each method."""
