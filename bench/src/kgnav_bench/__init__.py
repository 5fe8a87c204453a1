"""Benchmarks for all published figures, driven only through MCP clients."""
