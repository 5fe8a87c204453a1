"""Other people's MCP clients, each tried against this server in an environment of its own.

programs      one small program a client: it is told a task and prints what came of it, as `programs/task.py` says
environments  how a client is installed and run
cli           `scripts/try_clients`: the checks, and the table of what passed

Standard library only: no client's package is one of this project's.
"""
