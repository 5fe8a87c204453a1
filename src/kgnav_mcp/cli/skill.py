"""`kgnav skill`: SKILL.md, which tells clients that read skills when and how to use the tools."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import click

from kgnav_mcp.cli.boundary import Command
from kgnav_mcp.cli.clients import NAME, Machine
from kgnav_mcp.errors import ConfigurationError


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
