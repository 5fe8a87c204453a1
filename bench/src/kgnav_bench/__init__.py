"""Benchmarks for all published figures. They measure the server through MCP clients only."""
