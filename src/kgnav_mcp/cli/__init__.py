"""The command line: `kgnav` with its commands, and `kgnav-mcp`, which is what MCP clients start.

A command imports its dependencies when it runs, so that `--help` and the start of the server stay fast.
"""

from __future__ import annotations

import click

from kgnav_mcp import __version__
from kgnav_mcp.cli.boundary import Command
from kgnav_mcp.cli.call import call
from kgnav_mcp.cli.completion import completion
from kgnav_mcp.cli.demo import demo, maze
from kgnav_mcp.cli.doctor import doctor
from kgnav_mcp.cli.init import init
from kgnav_mcp.cli.install import install, skill
from kgnav_mcp.cli.load import load
from kgnav_mcp.cli.serve import serve
from kgnav_mcp.cli.trail import trail

__all__ = ["main", "serve_stdio"]


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  kgnav demo                                     watch it answer a question
  kgnav load films.nt.gz -o films.kg             make a graph file
  kgnav call describe_graph --graph films.kg     one tool call, as a model sees it
  kgnav serve --graph films.kg                   serve it to an MCP client over stdio
  kgnav doctor --graph films.kg                  check that everything works
  kgnav init                                     write kgnav.toml for a graph, question by question
  kgnav install claude-desktop --graph films.kg  add it to an MCP client""",
)
@click.version_option(__version__, prog_name="kgnav")
def main() -> None:
    """Let MCP clients query and navigate a knowledge graph.

    GRAPH is the path of a graph file, the URL of a store, a name from kgnav.toml, or demo.
    """


for command in (serve, call, trail, doctor, load, init, install, skill, completion, demo, maze):
    main.add_command(command)


def serve_stdio() -> None:
    """Entry point of `kgnav-mcp`, which MCP clients start. It does the same as `kgnav serve`."""
    standalone = Command(
        "kgnav-mcp",
        params=list(serve.params),
        callback=serve.callback,
        help=serve.help,
        epilog=(serve.epilog or "").replace("kgnav serve", "kgnav-mcp"),
        context_settings=main.context_settings,
    )
    click.version_option(__version__, prog_name="kgnav-mcp")(standalone)
    standalone.main(prog_name="kgnav-mcp")
