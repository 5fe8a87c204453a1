"""Compares `run_plan` with the same questions written by hand in a store's own language, in the same run."""
