"""Renders answers as compact markdown tables, or as structured content."""
