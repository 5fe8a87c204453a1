"""Third-party MCP clients, each tested against this server in its own environment.

programs      one small program for each client, which carries out a task and prints the outcome (`programs/task.py`)
environments  how a client is installed and run
cli           `scripts/try_clients`: the checks, and the table of what passed

Standard library only: no client's package is a dependency of this project.
"""
