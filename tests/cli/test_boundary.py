from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from kgnav_mcp import __version__
from kgnav_mcp.cli.boundary import Command
from kgnav_mcp.errors import ConfigurationError, StoreUnavailable
from tests.cli.conftest import Command as RunCommand
from tests.cli.conftest import Kgnav


def failing(error: BaseException) -> click.Command:
    def fail() -> None:
        raise error

    return Command("fail", callback=fail)


def test_an_error_of_ours_is_its_message_and_the_way_on_with_exit_code_1() -> None:
    result = CliRunner().invoke(failing(StoreUnavailable("the store is down", next_step="Start it.")))
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", "Error: the store is down\nStart it.\n")


def test_a_wrong_configuration_has_exit_code_2_like_wrong_usage() -> None:
    assert CliRunner().invoke(failing(ConfigurationError("wrong"))).exit_code == 2


def test_a_mistake_of_the_program_is_one_line_and_the_way_to_its_traceback() -> None:
    result = CliRunner().invoke(failing(ZeroDivisionError("division by zero")))
    assert result.exit_code == 70
    assert result.stdout == ""
    assert "Unexpected ZeroDivisionError: division by zero" in result.stderr
    assert "KGNAV_DEBUG=1" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_traceback_is_there_for_those_who_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGNAV_DEBUG", "1")
    result = CliRunner().invoke(failing(ZeroDivisionError("division by zero")))
    assert isinstance(result.exception, ZeroDivisionError)


def test_ctrl_c_has_its_customary_exit_code() -> None:
    assert CliRunner().invoke(failing(KeyboardInterrupt())).exit_code == 130


@pytest.mark.parametrize("subject", [(), ("serve",), ("call",), ("doctor",), ("load",), ("demo",)])
def test_every_command_explains_itself(subject: tuple[str, ...], kgnav: Kgnav) -> None:
    result = kgnav(*subject, "--help")
    assert result.exit_code == 0
    assert "Usage: kgnav" in result.stdout
    if subject != ("demo",):
        assert "Examples:" in result.stdout


def test_the_help_of_the_group_cuts_no_summary_short(kgnav: Kgnav) -> None:
    assert "..." not in kgnav("--help").stdout.partition("Commands:")[2]


@pytest.mark.parametrize("name", ["kgnav", "kgnav-mcp"])
def test_both_commands_are_installed_and_know_their_version(name: str, command: RunCommand) -> None:
    result = command(name, "--version")
    assert result.stdout == f"{name}, version {__version__}\n"


def test_a_wrong_setting_stops_the_server_before_it_says_anything_on_stdout(command: RunCommand) -> None:
    result = command("kgnav-mcp", "--hub-threshold", "few")
    assert (result.returncode, result.stdout) == (2, "")
    assert "--hub-threshold = 'few': this must be a whole number" in result.stderr
