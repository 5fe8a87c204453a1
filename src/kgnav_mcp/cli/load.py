"""`kgnav load`: makes a graph file from RDF, tables or the export of a property graph."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from kgnav_mcp.cli.boundary import INTERRUPTED, TERMINATED, Command, Terminated, terminable
from kgnav_mcp.cli.options import JSON_FLAG, print_json
from kgnav_mcp.clipping import echoed
from kgnav_mcp.concurrency import reporting
from kgnav_mcp.model.ids import is_iri

if TYPE_CHECKING:
    from kgnav_mcp.adapters.embedded.loading import LoadReport, Progress, ProgressListener
    from kgnav_mcp.adapters.embedded.loading.options import TableOptions
    from kgnav_mcp.port.terms import MeaningOptions


_Command = Callable[..., Any]
_OPTIONS = (
    click.option("--head", metavar="COLUMN", default="", help="Table of edges: the column with the heads."),
    click.option("--tail", metavar="COLUMN", default="", help="The column with the tails."),
    click.option("--id", "id_", metavar="COLUMN", default="", help="Table of nodes: the column with the id."),
    click.option("--name", metavar="COLUMN", default="", help="With --id: the column with the name. [default: the id]"),
    click.option("--label", metavar="COLUMN|NAME", default="", help="With --id: the label (class), or its column."),
    click.option(
        "--edge",
        "edges",
        metavar="COLUMN",
        multiple=True,
        help="With --id: a column whose values are other nodes; its name becomes the relation. Repeatable. Other "
        "columns are properties.",
    ),
    click.option(
        "--split",
        metavar="COLUMN=SEPARATOR",
        multiple=True,
        help="A column with several values in a field, and their separator, such as 'genre=, '. Repeatable.",
    ),
    click.option("--sheet", "sheets", metavar="NAME", multiple=True, help="A sheet of a workbook. [default: all]"),
    click.option(
        "--sep", "separator", metavar="CHARACTER", default="", help="The separator of columns. [default: guessed]"
    ),
    click.option(
        "--encoding",
        metavar="NAME",
        default="",
        help="The encoding of tables, and of networks that do not state it. [default: UTF-8, or guessed]",
    ),
)


def table_options(command: _Command) -> _Command:
    """Adds the options about tables to a command, which gets their values as `tables`."""

    @wraps(command)
    def with_tables(**flags: Any) -> Any:  # noqa: ANN401 - whatever the command takes and returns
        from kgnav_mcp.adapters.embedded.loading.options import ChosenColumns, TableOptions  # noqa: PLC0415 - brings parsers

        columns = ChosenColumns(
            head=flags.pop("head"),
            tail=flags.pop("tail"),
            relation=flags["relation"] or "",
            id=flags.pop("id_"),
            name=flags.pop("name"),
            label=flags.pop("label"),
            edges=flags.pop("edges"),
            split=tuple(map(_column_and_separator, flags.pop("split"))),
        )
        separator = flags.pop("separator").replace("\\t", "\t")
        if len(separator) > 1:
            raise click.UsageError("--sep takes one character, such as ';' or '\\t'.")
        tables = TableOptions(columns, separator, flags.pop("encoding"), flags.pop("sheets"))
        return command(tables=tables, **flags)

    for option in reversed(_OPTIONS):
        with_tables = option(with_tables)
    return with_tables


def _column_and_separator(text: str) -> tuple[str, str]:
    column, equals, separator = text.partition("=")
    if not equals or not column or not separator:
        raise click.UsageError(f"--split takes COLUMN=SEPARATOR, such as 'genre=;', not {text!r}.")
    return column, separator


_SECONDS_BETWEEN_LINES = 5.0
_BAD_LINES_SHOWN = 5
_BAR = "{desc}{percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}"
"""The percentage is of the sources' bytes; the postfix is the rate in triples per second."""
_EXISTING_FILE = click.Path(path_type=Path)


def _read_prefixes(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """The option --prefix as namespaces by prefix.

    Raises:
        click.BadParameter: a value is not of the form X=IRI.
    """
    prefixes: dict[str, str] = {}
    for text in values:
        name, _, iri = text.partition("=")
        if not name or ":" in name or not is_iri(iri):
            raise click.BadParameter(f"{echoed(text)} is not of the form X=IRI, such as ex=http://example.org/")
        prefixes[name] = iri
    return prefixes


@click.command(
    cls=Command,
    short_help="Make a graph file from RDF, tables, networks or an export.",
    epilog="""\b
Examples:
  kgnav load films.nt.gz -o films.kg
  kgnav load edges.csv --relation knows -o people.kg     source,target,weight as networkx or pandas write it
  kgnav load movies.csv --head Movie --tail Director     any table: an edge for each row
  kgnav load movies.xlsx --id Movie --edge Director --edge Genre --label Film     a node for each row
  kgnav load nodes.csv edges.csv -o movies.kg            as for neo4j-admin import, Neptune or Gephi
  kgnav load triples.tsv --labels names.tsv --type-relation P31 -o wiki.kg
  kgnav load Q42.ttl.gz --labels names.tsv -o adams.kg   an item or a dump of Wikidata
  kgnav load dump.nt --skip-bad --mediators unnamed -o freebase.kg

The output is written completely or not at all. An existing graph file of that name is replaced; any other file only
with --force, and a source never.""",
)
@click.argument("sources", nargs=-1, required=True, type=_EXISTING_FILE)
@click.option(
    "-o",
    "--output",
    "given_target",
    type=_EXISTING_FILE,
    help="The graph file to write. [default: the name of the first source with .kg, beside it]",
)
@click.option(
    "--force", is_flag=True, help="Replace the output even if it is not a graph file. (A source is never replaced.)"
)
@click.option(
    "--labels",
    multiple=True,
    type=_EXISTING_FILE,
    help="A file that names entities: id TAB name, or RDF. Ids may be short, such as wd:Q42. Repeatable.",
)
@click.option("--skip-bad", is_flag=True, help="Skip bad lines and count them. [default: stop at the first]")
@click.option(
    "--format",
    "source_format",
    metavar="FORMAT",
    help="The format of every source, whatever its suffix, such as nt, ttl, triples (head, relation, tail), edges (two "
    "nodes and maybe a weight) or property-graph; an unknown one lists all.",
)
@click.option(
    "--relation",
    metavar="NAME|COLUMN",
    help="The relation of edges in a table without a column for it; with --head, also such a column. "
    "[default: related_to]",
)
@table_options
@click.option(
    "--undirected",
    is_flag=True,
    help="The edges of tables are undirected. Each is stored once, and overviews of the graph say so.",
)
@click.option(
    "--nodes-from-edges",
    is_flag=True,
    help="For neo4j-admin tables: create the nodes that only edges mention. [default: such an edge is a bad line]",
)
@click.option(
    "--mediators",
    type=click.Choice(["blank", "unnamed", "none"]),
    default="blank",
    show_default=True,
    help="Which nodes without a name are mediators, which only connect others: blank nodes, all unnamed nodes, or "
    "none.",
)
@click.option(
    "--statements",
    type=click.Choice(["truthy", "all"]),
    default="truthy",
    show_default=True,
    help="For the RDF of a Wikibase, such as Wikidata: statements of the best rank, or all.",
)
@click.option(
    "--prefix",
    "prefixes",
    multiple=True,
    metavar="X=IRI",
    callback=_read_prefixes,
    help="A prefix for ids X:id in tables and answers, such as HGNC=http://identifiers.org/hgnc/. Repeatable. "
    "[default: the prefixes that sources declare]",
)
@click.option(
    "--owl",
    type=click.Choice(["folded", "raw"]),
    default="folded",
    show_default=True,
    help="For an ontology in OWL: SubClassOf (p some X) as an edge p and owl:Axiom as qualifiers, or raw triples.",
)
@click.option(
    "--type-relation",
    "type_relations",
    multiple=True,
    metavar="RELATION",
    help="A relation whose tails are classes, such as wdt:P31. Repeatable. [default: rdf:type]",
)
@click.option(
    "--name-relation",
    "name_relations",
    multiple=True,
    metavar="RELATION",
    help="A relation whose tails are names, the preferred first. Repeatable. [default: rdfs:label and similar ones]",
)
@click.option(
    "--name-property",
    "name_properties",
    multiple=True,
    metavar="PROPERTY",
    help="A property of nodes that is their name, the preferred first. Repeatable. [default: name, label, title]",
)
@click.option(
    "--language",
    "languages",
    multiple=True,
    metavar="TAG",
    help="A language of names, the preferred first. Repeatable. [default: en]",
)
@click.option(
    "--semantic",
    is_flag=True,
    help="Also make OUTPUT.meanings, with which find_node finds entities by meaning (extra semantic): 3 to 11 ms of "
    "CPU time and 0.8 kB for each entity.",
)
@click.option(
    "--progress/--quiet",
    "progress",
    default=None,
    help="Show progress on stderr: a bar on a terminal, else a line every 5 seconds. --quiet prints only errors and "
    "warnings. [default: a bar on a terminal, else only the summary]",
)
@JSON_FLAG
def load(
    *,
    sources: tuple[Path, ...],
    given_target: Path | None,
    tables: TableOptions,
    mediators: Literal["blank", "unnamed", "none"],
    statements: Literal["truthy", "all"],
    owl: Literal["folded", "raw"],
    prefixes: dict[str, str],
    progress: bool | None,
    source_format: str | None,
    labels: tuple[Path, ...],
    skip_bad: bool,
    force: bool,
    relation: str | None,
    undirected: bool,
    nodes_from_edges: bool,
    semantic: bool,
    as_json: bool,
    **lists: tuple[str, ...],
) -> None:
    """Make a graph file from SOURCES: RDF and ontologies (OBO too), tables (CSV, Excel, Parquet), databases (SQLite),
    networks (GraphML, GEXF, GML, JSON), exports of Neo4j and of Wikidata; also compressed with gzip or bzip2.
    """  # noqa: D205 - click shows the first paragraph as one
    from kgnav_mcp.adapters.embedded.loading import LoadOptions  # noqa: PLC0415 - brings the parsers
    from kgnav_mcp.adapters.embedded.loading import load as load_graph  # noqa: PLC0415

    meaning = _meaning_options() if semantic else None
    target = given_target or _default_target(sources[0])
    options = LoadOptions(
        tables=tables,
        labels=labels,
        skip_bad=skip_bad,
        force=force,
        relation=relation,
        undirected=undirected,
        nodes_from_edges=nodes_from_edges,
        source_format=source_format,
        mediators=mediators,
        statements=statements,
        owl=owl,
        prefixes=prefixes,
        **{name: values for name, values in lists.items() if values},
    )
    try:
        with terminable(), _progress_listener(progress) as listener:
            report = load_graph(sources, target, options, listener)
    except KeyboardInterrupt as stop:
        click.echo(f"Stopped: {target} was not written.", err=True)
        click.get_current_context().exit(TERMINATED if isinstance(stop, Terminated) else INTERRUPTED)
    for warning in report.warnings:
        click.echo(f"Warning: {warning}.", err=True)
    indexed = None if meaning is None else _index_meanings(target, meaning, shown=_is_shown(progress))
    if as_json:
        print_json(_summary_json(report, target, indexed))
    elif progress is not False:
        _summarise(report, target, indexed)


def _default_target(source: Path) -> Path:
    """The graph file beside a source, named like it: `films.kg` of `films.csv.gz`."""
    return source.with_name(f"{source.name.partition('.')[0] or source.name}.kg")


def _meaning_options() -> MeaningOptions:
    """The installed sentence model. Checked before the load, which may take long."""
    from kgnav_mcp.config import Settings  # noqa: PLC0415 - only this option needs it
    from kgnav_mcp.rankers import meaning_options  # noqa: PLC0415

    return meaning_options(Settings(semantic=True))


def _index_meanings(target: Path, meaning: MeaningOptions, *, shown: bool) -> int:
    """Make the index of meanings of a new graph file. Returns the number of its entities."""
    from kgnav_mcp.adapters.embedded.adapter import EmbeddedAdapter  # noqa: PLC0415 - as above
    from kgnav_mcp.port import AdapterOptions  # noqa: PLC0415

    async def index() -> int:
        async with EmbeddedAdapter(str(target), AdapterOptions(meaning=meaning)) as adapter:
            printer = _LineListener()
            async with reporting(printer.message if shown else None, lambda: adapter.indexing_progress):
                return await adapter.build_index_of_meanings(threads=os.cpu_count() or 1)

    try:
        with terminable():
            return asyncio.run(index())
    except KeyboardInterrupt as stop:
        click.echo(f"Stopped: {target} was written, but not its index of meanings.", err=True)
        click.get_current_context().exit(TERMINATED if isinstance(stop, Terminated) else INTERRUPTED)


def _is_shown(progress: bool | None) -> bool:
    """Whether progress is reported on stderr."""
    return progress or (progress is None and sys.stderr.isatty())


@contextmanager
def _progress_listener(progress: bool | None) -> Generator[ProgressListener | None]:
    """The listener that reports a load's progress: a bar on a terminal, lines if requested, else None."""
    if not _is_shown(progress):
        yield None
    elif sys.stderr.isatty():
        with _progress_bar() as listener:
            yield listener
    else:
        yield _LineListener()


@contextmanager
def _progress_bar() -> Generator[ProgressListener]:
    from tqdm import tqdm  # noqa: PLC0415 - needed on a terminal only

    started = time.monotonic()
    columns, rows = shutil.get_terminal_size()  # has a fallback: a terminal that reports no size would show no bar
    with tqdm(total=1, bar_format=_BAR, leave=False, file=sys.stderr, ncols=columns, nrows=rows) as bar:

        def listener(progress: Progress) -> None:
            bar.total = progress.bytes_total
            bar.set_description(f"{progress.source} {progress.phase}".strip(), refresh=False)
            bar.set_postfix_str(_rate(progress.triples, time.monotonic() - started), refresh=False)
            bar.update(progress.bytes_read - bar.n)
            bar.refresh()

        yield listener


class _LineListener:
    """Prints a line on stderr every few seconds, for logs."""

    def __init__(self) -> None:
        self._started = self._last_printed = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._last_printed < _SECONDS_BETWEEN_LINES:
            return
        self._last_printed = now
        share = progress.bytes_read / progress.bytes_total if progress.bytes_total else 0.0
        rate = _rate(progress.triples, now - self._started)
        click.echo(f"{share:4.0%} {progress.phase} {progress.source}: {rate}", err=True)

    async def message(self, text: str) -> None:
        """Print a message, unless the last one is too recent."""
        now = time.monotonic()
        if now - self._last_printed >= _SECONDS_BETWEEN_LINES:
            self._last_printed = now
            click.echo(text, err=True)


def _rate(triples: int, seconds: float) -> str:
    return f"{triples:,} triples, {triples / max(seconds, 0.001):,.0f}/s"


def _summary_json(report: LoadReport, target: Path, indexed: int | None) -> dict[str, object]:
    return {
        "graph": str(target),
        "sources": [*report.sources],
        "entities": report.entities,
        "triples": report.triples,
        "seconds": round(report.seconds, 3),
        "notes": [*report.notes],
        "warnings": [*report.warnings],
        "badLines": report.bad_lines,
        "firstBadLines": [line.message for line in report.first_bad_lines],
        "indexedByMeaning": indexed,
    }


def _summarise(report: LoadReport, target: Path, indexed: int | None) -> None:
    click.echo(
        f"{target}: {report.entities:,} entities, {_rate(report.triples, report.seconds)}, {report.seconds:.1f} s"
    )
    for note in report.notes:
        click.echo(f"  {note}")
    if indexed is not None:
        click.echo(f"  {target}.meanings: {indexed:,} entities by meaning")
    if report.bad_lines:
        noun = "line was" if report.bad_lines == 1 else "lines were"
        click.echo(f"{report.bad_lines:,} bad {noun} skipped:")
        for line in report.first_bad_lines[:_BAD_LINES_SHOWN]:
            click.echo(f"  {line.message}")
        if report.bad_lines > _BAD_LINES_SHOWN:
            click.echo(f"  and {report.bad_lines - _BAD_LINES_SHOWN:,} more")
    click.echo(f"Next: kgnav call describe_graph --graph {shlex.quote(str(target))}")
