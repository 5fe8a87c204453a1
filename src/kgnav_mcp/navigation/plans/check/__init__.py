"""Checks of a plan against a graph: names, directions, kinds of values, size; and the corrected plan."""
