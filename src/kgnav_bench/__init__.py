"""The benchmarks behind the claims, driven through MCP clients alone."""
