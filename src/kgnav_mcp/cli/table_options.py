"""The options of `kgnav load` about tables: which columns are what, and how the text is written."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

_Command = Callable[..., Any]
_OPTIONS = (
    click.option("--head", metavar="COLUMN", default="", help="Of a table: the column where each edge starts."),
    click.option("--tail", metavar="COLUMN", default="", help="The column where it ends."),
    click.option("--id", "id_", metavar="COLUMN", default="", help="Of a table with a row for each node: the id."),
    click.option("--name", metavar="COLUMN", default="", help="With --id: the column with the name. [default: the id]"),
    click.option("--label", metavar="COLUMN|NAME", default="", help="With --id: the label (class), or its column."),
    click.option(
        "--edge",
        "edges",
        metavar="COLUMN",
        multiple=True,
        help="With --id: a column whose values are other nodes; the edge has its name. Repeatable. Other columns "
        "are properties.",
    ),
    click.option(
        "--split",
        metavar="COLUMN=SEPARATOR",
        multiple=True,
        help="A column with several values in a field, such as 'genre=, '. Repeatable.",
    ),
    click.option("--sheet", "sheets", metavar="NAME", multiple=True, help="A sheet of a workbook. [default: all]"),
    click.option("--sep", "separator", metavar="CHARACTER", default="", help="The separator. [default: guessed]"),
    click.option(
        "--encoding",
        metavar="NAME",
        default="",
        help="The encoding of tables, GML and Pajek. [default: UTF-8, or guessed]",
    ),
)


def table_options(command: _Command) -> _Command:
    """Adds the options about tables to a command, which gets their values as `tables`."""

    @wraps(command)
    def with_tables(**given: Any) -> Any:  # noqa: ANN401 - whatever the command takes and returns
        from kgnav_mcp.adapters.embedded.loading.options import ChosenColumns, TableOptions  # noqa: PLC0415 - brings parsers

        columns = ChosenColumns(
            head=given.pop("head"),
            tail=given.pop("tail"),
            relation=given["relation"] or "",
            id=given.pop("id_"),
            name=given.pop("name"),
            label=given.pop("label"),
            edges=given.pop("edges"),
            split=tuple(map(_column_and_separator, given.pop("split"))),
        )
        separator = given.pop("separator").replace("\\t", "\t")
        if len(separator) > 1:
            raise click.UsageError("--sep takes one character, such as ';' or '\\t'.")
        tables = TableOptions(columns, separator, given.pop("encoding"), given.pop("sheets"))
        return command(tables=tables, **given)

    for option in reversed(_OPTIONS):
        with_tables = option(with_tables)
    return with_tables


def _column_and_separator(text: str) -> tuple[str, str]:
    column, equals, separator = text.partition("=")
    if not equals or not column or not separator:
        raise click.UsageError(f"--split takes COLUMN=SEPARATOR, such as 'genre=;', not {text!r}.")
    return column, separator
