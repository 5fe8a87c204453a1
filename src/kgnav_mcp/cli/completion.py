"""`kgnav completion`: completion of commands, options and graphs in the shell."""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.shell_completion import CompletionItem, get_completion_class

from kgnav_mcp.cli.boundary import Command
from kgnav_mcp.config import DEMO_LOCATION, configured_graph_names
from kgnav_mcp.errors import ConfigurationError

_VARIABLE = "_KGNAV_COMPLETE"
_SERVER_VARIABLE = "_KGNAV_MCP_COMPLETE"
_PROGRAMS = {"kgnav": _VARIABLE, "kgnav-mcp": _SERVER_VARIABLE}
_MARK = "# completion of kgnav"


@click.command(
    cls=Command,
    short_help="Complete commands and graphs in your shell.",
    epilog="""\b
Examples:
  kgnav completion bash --install
  kgnav completion fish > ~/.config/fish/completions/kgnav.fish""",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.option("--install", is_flag=True, help="Set it up for all new shells, instead of printing the script.")
def completion(*, shell: str, install: bool) -> None:
    """Print the completion script for SHELL, or set it up."""
    script = "\n".join(_script(shell, program, variable) for program, variable in _PROGRAMS.items())
    if not install:
        click.echo(script)
        return
    folder = _folder("XDG_DATA_HOME", ".local", "share") / "kgnav"
    if shell == "fish":  # reads a folder of scripts
        files = {_folder("XDG_CONFIG_HOME", ".config") / "fish" / "completions" / "kgnav.fish": script}
    else:
        target = folder / f"completion.{shell}"
        files = {target: script}
    try:
        for file, text in files.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text + "\n", encoding="utf-8")
            click.echo(f"{file} was written.")
        if shell != "fish":
            _source_in(_startup_file(shell), folder / f"completion.{shell}")
    except OSError as error:
        raise ConfigurationError(
            f"{error.filename} cannot be written: {error.strerror}",
            next_step=f"Print the script and put it where {shell} reads it: kgnav completion {shell}",
        ) from error
    click.echo(f"Next: start a new {shell}.")


def complete_graph(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of kgnav.toml, `demo`, and files: what a value of --graph may be. In NAME=PATH, the path is completed."""
    name, equals, _ = incomplete.partition("=")
    if equals and "/" not in name:
        return [CompletionItem(incomplete, type="file")]
    try:
        names = [*configured_graph_names(), DEMO_LOCATION]
    except ConfigurationError:  # a completion has no place for an error; the command itself reports it
        names = [DEMO_LOCATION]
    items = [CompletionItem(name) for name in dict.fromkeys(names) if name.startswith(incomplete)]
    return [*items, CompletionItem(incomplete, type="file")]


def _script(shell: str, program: str, variable: str) -> str:
    kind = get_completion_class(shell)
    if kind is None:
        raise ConfigurationError(f"click cannot complete in {shell}", next_step="Run: pip install 'click>=8.1'")
    root = click.get_current_context().find_root().command
    return kind(root, {}, program, variable).source()


def _source_in(startup: Path, script: Path) -> None:
    """Add a line that reads the script to the shell's start-up file, once."""
    text = startup.read_text(encoding="utf-8") if startup.is_file() else ""
    if _MARK in text:
        click.echo(f"{startup} reads it already.")
        return
    with startup.open("a", encoding="utf-8") as file:
        file.write(f"{'' if not text or text.endswith(chr(10)) else chr(10)}. '{script}'  {_MARK}\n")
    click.echo(f"{startup} reads it from now on.")


def _startup_file(shell: str) -> Path:
    if shell == "zsh":
        return _folder("ZDOTDIR") / ".zshrc"
    return Path.home() / ".bashrc"


def _folder(variable: str, *default: str) -> Path:
    return Path(value) if (value := os.environ.get(variable)) else Path.home().joinpath(*default)
