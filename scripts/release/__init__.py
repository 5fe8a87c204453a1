"""Makes what is handed on: wheels, source distributions, the bundle for desktop clients, the registry's entry.

distributions   what pyproject.toml says, and the wheels and source distributions
bundle          the .mcpb bundle: the wheel, a manifest, an icon
icon            the icon, drawn
registry        server.json, for the MCP registry
check           installs the wheel on every Python of the machine, and asks it something
"""
