"""`kgnav init`: asks where the graph is, tests it, and writes a commented kgnav.toml."""

from __future__ import annotations

import asyncio
import shlex
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgnav_mcp.cli.boundary import Command, print_error
from kgnav_mcp.cli.clients import CLIENTS
from kgnav_mcp.cli.config_text import Answers, config_text, secret_variable
from kgnav_mcp.cli.graph_places import Place, place_of
from kgnav_mcp.cli.install import install
from kgnav_mcp.cli.load import load
from kgnav_mcp.config import DEMO_LOCATION, Settings, load_settings
from kgnav_mcp.errors import ConfigurationError, InvalidArgument, KgnavError

if TYPE_CHECKING:
    from kgnav_mcp.cli.proposals import Proposals
_PAIR = "LABEL=PROPERTY"


@click.command(
    cls=Command,
    short_help="Write kgnav.toml for a graph, question by question.",
    epilog="""\b
Examples:
  kgnav init
  kgnav init films.kg --yes
  kgnav init bolt://localhost:7687/movies --user reader --key Person=imdbId --yes
  kgnav init https://dbpedia.org/sparql --language en,de --yes --install vscode

A password is read from an environment variable; it is never asked for, printed or written.""",
)
@click.argument("location", required=False)
@click.option("--name", help="The name of the graph. [default: made from its file or host]")
@click.option("--language", help="Languages of names in order of preference, such as nl,en. [default: en]")
@click.option("--contact", help="Your e-mail address or web page, for public stores.")
@click.option("--user", help="The user of the store (Neo4j).")
@click.option("--password-file", help="A file with the password of the store (Neo4j).")
@click.option("--name-relation", "labels", multiple=True, help="A relation that names nodes (SPARQL). Repeatable.")
@click.option(
    "--description-relation",
    "descriptions",
    multiple=True,
    help="A relation that describes nodes (SPARQL). Repeatable.",
)
@click.option(
    "--type-relation", "types", multiple=True, help="A relation that gives a node's classes (SPARQL). Repeatable."
)
@click.option("--key", "keys", multiple=True, metavar=_PAIR, help="The key property of a label (Neo4j). Repeatable.")
@click.option(
    "--name-property",
    multiple=True,
    metavar=_PAIR,
    help="The property with the names of a label's nodes (Neo4j). Repeatable.",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), default=Path("kgnav.toml"), show_default=True
)
@click.option("--force", is_flag=True, help="Replace the output if it exists.")
@click.option("--load", "load_sources", is_flag=True, help="Load sources that are not a graph file yet.")
@click.option("--install", "client", type=click.Choice(list(CLIENTS)), help="Add the server to this client, too.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask: use the flags and the detected values.")
@click.pass_context
def init(context: click.Context, **flags: Any) -> None:  # noqa: ANN401 - texts, paths and lists, as declared above
    """Write kgnav.toml for the graph at LOCATION.

    LOCATION is a graph file, a folder, a URL (bolt, neo4j, a SPARQL endpoint), wikidata or demo.
    """
    ask = _Questions(yes=flags["yes"])
    output: Path = flags["output"]
    if output.exists() and not flags["force"]:
        ask.confirm(
            f"{output} exists. Replace it?",
            InvalidArgument(f"{output} exists", next_step="Add --force to replace it, or -o FILE."),
        )
    place = place_of(
        flags["location"] or ask.text("Where is the graph (file, folder, URL, wikidata)?", None, "LOCATION")
    )
    if place.sources:
        place = _load_first(context, place, ask, is_confirmed=flags["load_sources"])
    answers = _answers(place, flags, ask, output)
    text = _text_for(answers, place, ask)
    _write(output, text)
    click.echo(f"{output} was written, with the graph {answers.name}.")
    _print_secret(answers, place)
    _offer_install(context, flags["client"], output, ask)


class _Questions:
    """Asks on the terminal, or takes the defaults (`--yes`)."""

    def __init__(self, *, yes: bool) -> None:
        self.answers_itself = yes

    def text(self, question: str, default: str | None, flag: str) -> str:
        """An answer, by default `default`. Without one and without questions, `flag` is missing."""
        if not self.answers_itself:
            return str(click.prompt(question, default=default))
        if default is None:
            raise click.UsageError(f"With --yes, {flag} is required.")
        return default

    def confirm(self, question: str, refusal: KgnavError) -> None:
        """Ask; raise `refusal` if the answer is no, or with `--yes`."""
        if self.answers_itself or not click.confirm(question, default=False):
            raise refusal

    def choose(self, question: str, choices: list[str]) -> str:
        """One of the choices, by default the last one."""
        if self.answers_itself:
            return choices[-1]
        return str(click.prompt(question, type=click.Choice(choices), default=choices[-1]))


def _load_first(context: click.Context, place: Place, ask: _Questions, *, is_confirmed: bool) -> Place:
    """Load sources into a graph file beside the first, if the user wants it."""
    target = place.sources[0].with_suffix("").with_suffix(".kg") if place.sources[0].suffix == ".gz" else None
    target = target or place.sources[0].with_suffix(".kg")
    command = f"kgnav load {shlex.join(map(str, place.sources))} -o {shlex.quote(str(target))}"
    what = f"{place.sources[0].name} is not a graph file" if len(place.sources) == 1 else "these are not graph files"
    if not is_confirmed:
        click.echo(f"{what}. This command makes one:\n  {command}")
        refusal = InvalidArgument(f"{what} yet", next_step=f"Run: {command} (or add --load to this command)")
        ask.confirm("Run it now?", refusal)
    context.invoke(load, sources=place.sources, given_target=target)
    return Place(str(target), full_location=str(target))


def _answers(place: Place, flags: dict[str, Any], ask: _Questions, output: Path) -> Answers:
    name = flags["name"] or ask.text("Name of the graph", place.name, "--name")
    language = flags["language"] or ask.text("Languages of names", "en", "--language")
    contact = flags["contact"] or ""
    if place.kind == "wikidata" and not contact:
        contact = ask.text("Your e-mail address or web page (Wikimedia asks for it; empty for none)", "", "--contact")
    user = flags["user"] or place.user
    if place.kind == "neo4j" and not user:
        user = ask.text("User of the store (empty for none)", "", "--user")
    return Answers(
        name=name,
        location=_written_location(place, output),
        languages=tuple(part.strip() for part in language.split(",") if part.strip()),
        contact=contact,
        user=user if place.kind == "neo4j" else "",
        password_file=flags["password_file"] or "",
        options=_options(place, flags),
    )


def _options(place: Place, flags: dict[str, Any]) -> dict[str, object]:
    """The store's options that flags give.

    Raises:
        InvalidArgument: a flag that this kind of store does not have, or one that is not LABEL=PROPERTY.
    """
    values = {
        "labels": list(flags["labels"]),
        "descriptions": list(flags["descriptions"]),
        "types": list(flags["types"]),
        "keys": _pairs("--key", flags["keys"]),
        "names": _pairs("--name-property", flags["name_property"]),
    }
    options: dict[str, object] = {key: value for key, value in values.items() if value}
    allowed = {"sparql": {"labels", "descriptions", "types"}, "neo4j": {"keys", "names"}}.get(place.kind, set())
    if wrong := sorted(set(options) - allowed):
        raise InvalidArgument(
            f"{', '.join(wrong)} cannot be used for a graph of the kind {place.kind}",
            next_step="For a graph file, give --name-relation and --type-relation to kgnav load."
            if place.kind == "file"
            else "Leave these flags out. Other options go into [graphs.NAME.options] of the file.",
        )
    return options


def _pairs(flag: str, values: tuple[str, ...]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for value in values:
        label, _, name = value.partition("=")
        if not label or not name:
            raise InvalidArgument(f"{flag} takes {_PAIR}", next_step=f"Write it as {flag} Person=imdbId.")
        pairs[label] = name
    return pairs


def _written_location(place: Place, output: Path) -> str:
    """The location for the file: a path below the file's folder is relative to it, others are absolute."""
    if place.kind != "file" or place.location == DEMO_LOCATION:
        return place.location
    path, folder = Path(place.location).absolute(), output.absolute().parent
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


def _text_for(answers: Answers, place: Place, ask: _Questions) -> str:
    """The text of the file, with proposals from a test of the graph.

    Raises:
        KgnavError: the graph does not answer, and the user does not want the file anyway.
    """
    from kgnav_mcp.cli.proposals import examine  # noqa: PLC0415 - brings the adapters' floor

    settings = _checked_settings(answers, place, config_text(answers, place, None))
    try:
        proposals = asyncio.run(examine(settings, answers.name))
    except KgnavError as error:
        if ask.answers_itself:
            raise
        print_error(error)
        ask.confirm("The graph does not answer. Write the file anyway?", error)
        return config_text(answers, place, None)
    click.echo(f"The graph answers: {proposals.health.store}, {_size(proposals)}.")
    if proposals.problem:
        click.echo(f"Its schema cannot be read: {proposals.problem}")
    for advice in proposals.health.advice:
        click.echo(f"  {advice}")
    if place.kind == "sparql" and proposals.names and not proposals.usual_names and "labels" not in answers.options:
        click.echo("No common name relation (such as rdfs:label) was found.")
        names = ask.text("Relations that name nodes", ",".join(proposals.names), "--name-relation")
        answers = replace(answers, options={**answers.options, "labels": names.split(",")})
    text = config_text(answers, place, proposals)
    _checked_settings(answers, place, text)
    return text


def _size(proposals: Proposals) -> str:
    counts = ((proposals.health.entities, "entities"), (proposals.health.triples, "triples"))
    return ", ".join(f"{count.words} {noun}" for count, noun in counts)


def _checked_settings(answers: Answers, place: Place, text: str) -> Settings:
    """The settings as the server will read them from this text. A password of the location is used, not written.

    Raises:
        ConfigurationError: a name or a value is not valid.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kgnav.toml"
        file.write_text(text, encoding="utf-8")
        location = str(Path(place.full_location).absolute()) if place.kind == "file" else place.full_location
        location = DEMO_LOCATION if place.location == DEMO_LOCATION else location
        graphs = {answers.name: {"location": location}} if place.kind == "file" or place.has_password else {}
        return load_settings({"graphs": graphs}, graphs=(answers.name,), config_file=file)


def _write(output: Path, text: str) -> None:
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(
            f"{output} cannot be written: {error.strerror}", next_step="Name another file with -o."
        ) from error


def _print_secret(answers: Answers, place: Place) -> None:
    if place.has_password:
        variable = secret_variable(answers.name, place)
        content = "the password" if place.kind == "neo4j" else "the location with it"
        click.echo(f"The password was not written. Set {variable} to {content} where the server starts.")


def _offer_install(context: click.Context, client: str | None, output: Path, ask: _Questions) -> None:
    none = "none"
    client = client or ask.choose("Add the server to a client?", [*CLIENTS, none])
    if client == none:
        click.echo(f"Next: kgnav install CLIENT --config {shlex.quote(str(output))}")
    else:
        context.invoke(install, client_name=client, config_file=output)
