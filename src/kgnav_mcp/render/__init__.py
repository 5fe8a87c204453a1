"""Answers as a reader sees them: compact markdown tables, or the same facts as structured content."""
