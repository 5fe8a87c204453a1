"""`kgnav install`: writes this server into an MCP client's configuration, or removes it."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import click

from kgnav_mcp.adapters import FILE, scheme_of
from kgnav_mcp.cli.boundary import Command
from kgnav_mcp.cli.clients import CLIENTS, NAME, Client, Machine, ServerEntry, lasting_command
from kgnav_mcp.cli.completion import complete_graph
from kgnav_mcp.cli.config_files import ConfigFile
from kgnav_mcp.cli.graph_places import check_graph_files
from kgnav_mcp.config import (
    DEMO_LOCATION,
    configured_graph_names,
    find_config_file,
    graphs_from_environment,
    load_settings,
)
from kgnav_mcp.errors import ConfigurationError, InvalidArgument

_SECONDS = 60


def program_of(client: Client) -> str | None:
    """The absolute path of the client's own program; None if it has none or it is not on PATH."""
    return shutil.which(client.command) if client.command else None


def add_with_program(program: str, name: str, fields: Mapping[str, object], file: ConfigFile) -> None:
    """Add an entry for all projects of the user, in place of an older one of this name."""
    if ConfigFile(file.path, file.syntax).value(("mcpServers", name)) is not None:
        remove_with_program(program, name)
    _run([program, "mcp", "add-json", "--scope", "user", name, json.dumps(fields)])


def remove_with_program(program: str, name: str) -> None:
    """Remove the user's entry."""
    _run([program, "mcp", "remove", "--scope", "user", name])


def _run(command: Sequence[str]) -> None:
    try:
        result = subprocess.run(  # noqa: S603 - the client's program, with arguments of ours
            command, capture_output=True, text=True, timeout=_SECONDS, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ConfigurationError(f"{command[0]} cannot be run: {error}", next_step=_by_file()) from error
    if result.returncode:
        output = (result.stderr or result.stdout).strip().splitlines()
        reason = output[0][:200] if output else f"exit code {result.returncode}"
        raise ConfigurationError(f"{command[0]} mcp {command[2]} failed: {reason}", next_step=_by_file())


def _by_file() -> str:
    return "Write its file instead: add --file ~/.claude.json to this command."


GRAPH_VARIABLE = "KGNAV_GRAPH"
"""The variable that holds the graphs where their locations have passwords."""


def remote_entry(url: str) -> ServerEntry:
    """The entry of a server that runs elsewhere.

    Raises:
        InvalidArgument: the URL is not one of http or https, or it contains a password.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InvalidArgument(f"{url!r} is not the address of a server", next_step="Write it as http://HOST:8365/mcp.")
    if parts.password or parts.username:
        raise InvalidArgument(
            "the address contains a user or password, which is never written into a client's file",
            next_step="Leave it out, and enter the credentials in the client as its documentation says.",
        )
    if parts.path in {"", "/"}:
        raise InvalidArgument(
            f"{url} has no path; `kgnav serve --http` serves at /mcp",
            next_step=f"Write: --http {url.rstrip('/')}/mcp",
        )
    return ServerEntry(url=url)


def local_entry(graphs: Sequence[str], config_file: Path | None) -> ServerEntry:
    """The entry that starts this installation with graphs.

    Args:
        graphs: values of `--graph`: a name of the configuration file, a location, or NAME=LOCATION.
        config_file: the configuration file of the server; None for the one that is found from here.

    Raises:
        ConfigurationError: a graph is unknown or its file does not exist, or the configuration is wrong.
    """
    path = find_config_file(config_file)
    graphs = graphs or graphs_from_environment()
    settings = load_settings(graphs=graphs, config_file=config_file)
    check_graph_files(settings)
    configured = configured_graph_names(config_file)
    command, *arguments = lasting_command()
    if path:
        arguments += ["--config", str(path.absolute())]
    locations = {name: _absolute(graph.location) for name, graph in settings.graphs.items()}
    secret = False
    chosen: list[str] = []
    for text, (name, location) in zip(graphs, locations.items(), strict=True) if graphs else ():
        if text in configured:
            chosen += ["--graph", name]
        else:
            secret = secret or _has_password(location)
            chosen += ["--graph", location if name == location == DEMO_LOCATION else f"{name}={location}"]
    if secret:  # a variable holds all graphs, so that the entry must not name others
        return ServerEntry(command, tuple(arguments), variables=(GRAPH_VARIABLE,))
    return ServerEntry(command, (*arguments, *chosen))


def _has_password(location: str) -> bool:
    return "://" in location and bool(urlsplit(location).password)


def _absolute(location: str) -> str:
    is_path = location != DEMO_LOCATION and scheme_of(location) == FILE and "://" not in location
    return str(Path(location).expanduser().absolute()) if is_path else location


@dataclass(frozen=True, slots=True)
class _Target:
    """The client, the name of the entry and the file it is in."""

    client: Client
    key: str
    name: str
    file: Path
    machine: Machine
    chosen_file: bool

    @property
    def path(self) -> tuple[str, str]:
        return self.client.table, self.name


@click.command(
    cls=Command,
    short_help="Add this server to an MCP client.",
    epilog="""\b
Examples:
  kgnav install claude-desktop --graph films.kg
  kgnav install vscode --graph wd=wikidata+https://query.wikidata.org/sparql --name wikidata
  kgnav install codex --http http://127.0.0.1:8365/mcp
  kgnav install cursor --graph films.kg --dry-run
  kgnav install cursor --remove

Before its first change the file is copied to FILE.before-kgnav; all other entries and comments stay. A password is
never written: the entry refers to the variable KGNAV_GRAPH, which must contain the graph's location.""",
)
@click.argument("client_name", metavar="CLIENT", type=click.Choice(list(CLIENTS)))
@click.option(
    "--graph",
    "-g",
    "graphs",
    multiple=True,
    metavar="[NAME=]LOCATION",
    shell_complete=complete_graph,
    help="A graph to serve, as for `kgnav serve`. Repeatable. [default: those of kgnav.toml, else demo]",
)
@click.option(
    "--config",
    "config_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The kgnav.toml that the server reads. [default: the one that this command finds]",
)
@click.option("--http", "url", metavar="URL", help="The address of a running server, instead of starting one.")
@click.option("--name", default=NAME, show_default=True, help="The name of the entry.")
@click.option(
    "--file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Another file of the client, such as .cursor/mcp.json of a project. [default: the user's]",
)
@click.option(
    "--skill", is_flag=True, help="Also install SKILL.md, which tells Claude Code when and how to use the tools."
)
@click.option("--remove", is_flag=True, help="Remove the entry.")
@click.option("--dry-run", is_flag=True, help="Print what would be done.")
def install(
    *,
    client_name: str,
    graphs: tuple[str, ...],
    config_file: Path | None,
    url: str | None,
    name: str,
    file: Path | None,
    skill: bool,
    remove: bool,
    dry_run: bool,
) -> None:
    """Add this server to CLIENT's own configuration.

    CLIENT is claude-desktop, claude-code, vscode, cursor, codex, goose or gemini-cli. A second run changes nothing.
    """
    if url and (graphs or config_file):
        raise click.UsageError("--http names a running server, which has its graphs: leave out --graph and --config.")
    if skill and client_name != "claude-code":
        raise click.UsageError("--skill is for claude-code. For other clients: kgnav skill > SKILL.md")
    _check_name(name)
    client, machine = CLIENTS[client_name], Machine.current()
    target = _Target(client, client_name, name, file or client.file(machine), machine, file is not None)
    if remove:
        _remove(target, dry_run=dry_run)
    else:
        _add(target, remote_entry(url) if url else local_entry(graphs, config_file), dry_run=dry_run)
    if skill:
        install_skill(machine, remove=remove, dry_run=dry_run)


def _check_name(name: str) -> None:
    if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
        raise InvalidArgument(
            f"{name!r} is not a valid name of an entry", next_step="Use letters, digits, - and _, such as kgnav."
        )


def _add(target: _Target, entry: ServerEntry, *, dry_run: bool) -> None:
    fields = _fields(target, entry)
    file = ConfigFile(target.file, target.client.syntax)
    changed = file.merge(target.path, fields, target.client.obsolete_keys(entry))
    if not entry.variables and not entry.url:
        changed = _remove_reference(target, file) or changed
    shown = json.dumps({target.name: file.value(target.path)}, ensure_ascii=False, indent=2)
    title = f"{target.client.title}: {target.file}"
    if not changed:
        click.echo(f"{title}: {target.name} is already there; nothing was changed.")
    elif dry_run:
        click.echo(f"{title}: would have in {target.client.table}:\n{_without_other_keys(shown, target.name, fields)}")
    else:
        users_keys = file.value(target.path) != fields  # may be secret: other users can read a program's arguments
        program = None if target.chosen_file or users_keys else program_of(target.client)
        if program:
            add_with_program(program, target.name, fields, file)
        else:
            file.write()
        click.echo(f"{title}: {target.name} was written.{_backup_note(file)}")
    _print_variables(entry, target.client)
    if changed and not dry_run:
        click.echo(f"Next: {target.client.restart}")


def _remove_reference(target: _Target, file: ConfigFile) -> bool:
    """Remove an older entry's reference to the variable with the graphs, which may not be set."""
    place = (*target.path, "env", GRAPH_VARIABLE)
    if file.value(target.path) is None or file.value(place) != target.client.reference(GRAPH_VARIABLE):
        return False
    return file.remove(place)


def _without_other_keys(shown: str, name: str, fields: dict[str, object]) -> str:
    """The entry as it would be, with `...` for values of keys that this command does not set: they may be secret."""
    entry = cast("dict[str, object]", json.loads(shown)[name])
    return json.dumps(
        {name: {key: value if value == fields.get(key) else fields.get(key, "...") for key, value in entry.items()}},
        ensure_ascii=False,
        indent=2,
    )


def _fields(target: _Target, entry: ServerEntry) -> dict[str, object]:
    client = target.client
    if entry.url and client.remote is None:
        raise ConfigurationError(
            f"{client.title} cannot have a server's URL in its file", next_step=client.remote_advice
        )
    if entry.variables and client.variable is None:
        raise ConfigurationError(
            f"the graph's location has a password, and {client.title} gives servers no variables of yours",
            next_step="Write the location into [graphs.NAME] of a kgnav.toml that only you can read, or for Neo4j "
            f"password_file into its options. Then: kgnav install {target.key} --config kgnav.toml",
        )
    return client.fields(target.name, entry)


def _remove(target: _Target, *, dry_run: bool) -> None:
    file = ConfigFile(target.file, target.client.syntax)
    title = f"{target.client.title}: {target.file}"
    if not file.remove(target.path):
        click.echo(f"{title}: {target.name} is not there; nothing was changed.")
        return
    if dry_run:
        click.echo(f"{title}: {target.name} would be removed.")
        return
    program = None if target.chosen_file else program_of(target.client)
    if program:
        remove_with_program(program, target.name)
    else:
        file.write()
    click.echo(f"{title}: {target.name} was removed.{_backup_note(file)}\nNext: {target.client.restart}")


def _backup_note(file: ConfigFile) -> str:
    return f" Backup: {file.backup}" if file.backup.exists() else ""


def _print_variables(entry: ServerEntry, client: Client) -> None:
    for variable in entry.variables:
        click.echo(
            f"The location has a password, which was not written. Set {variable} to the location where {client.title} "
            f"starts, such as: export {variable}={shlex.quote('bolt://USER:PASSWORD@HOST')}"
        )


@click.command(
    cls=Command,
    short_help="Print SKILL.md for clients that read skills.",
    epilog="""\b
Examples:
  kgnav install claude-code --skill              with the server, for Claude Code
  kgnav skill > ~/.agents/skills/kgnav/SKILL.md  for a client that reads skills there""",
)
def skill() -> None:
    """Print SKILL.md: when to use the tools, which one for which task, how to read their answers."""
    click.echo(skill_text(), nl=False)


def skill_text() -> str:
    """SKILL.md with its front matter."""
    return files("kgnav_mcp.cli").joinpath("SKILL.md").read_text(encoding="utf-8")


def install_skill(machine: Machine, *, remove: bool, dry_run: bool) -> None:
    """Write the skill into Claude Code's folder of the user's skills, or remove it.

    Raises:
        ConfigurationError: the folder cannot be written, or holds another skill of this name.
    """
    file = machine.folder("CLAUDE_CONFIG_DIR", ".claude") / "skills" / NAME / "SKILL.md"
    present = file.read_text(encoding="utf-8") if file.is_file() else None
    if present is not None and f"name: {NAME}\n" not in present:
        raise ConfigurationError(
            f"{file} belongs to another skill", next_step=f"Move it, or replace it: kgnav skill > {file}"
        )
    if present == (None if remove else skill_text()):
        click.echo(f"{file}: nothing was changed.")
    elif dry_run:
        click.echo(f"{file}: would be {'removed' if remove else 'written'}.")
    else:
        _change(file, remove=remove)
        click.echo(f"{file}: {'removed' if remove else 'written'}.")


def _change(file: Path, *, remove: bool) -> None:
    try:
        if remove:
            file.unlink()
            file.parent.rmdir()
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(skill_text(), encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(
            f"{file}: {error.strerror}", next_step="Check the permissions of its folder."
        ) from error
