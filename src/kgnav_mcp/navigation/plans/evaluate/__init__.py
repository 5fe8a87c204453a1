"""Evaluation of the parts of a plan that a store does not run: tables of rows over the verbs of the port."""
