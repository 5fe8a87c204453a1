"""Runs language models through the tools of the server: one loop, and an arm for each method."""
