"""The commands `kgnav-bench walks`."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import AsyncExitStack, aclosing
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from kgnav_bench.commands import FILE, NEW_FILE, described, example
from kgnav_bench.records import UnreadableRecordsError
from kgnav_bench.walks.options import AGAIN, CONCURRENCY, GRAPH, PROGRESS, explained, model_options, options, place_of
from kgnav_bench.walks.preparing import overlap, questions, roll
from kgnav_bench.walks.sharegpt import Shape, read_conversations

if TYPE_CHECKING:
    from kgnav_bench.walks.authors import Author
    from kgnav_bench.walks.making import Settings
    from kgnav_bench.walks.writing import WalkFile

_SHAPES = [shape.value for shape in Shape if shape is not Shape.OTHER]
_SHOWN_FAULTS = 20
_LIMITS = options(
    click.option(
        "--d-min", default=1, show_default=True, type=click.IntRange(1), help="Minimum number of neighbours at a hop."
    ),
    click.option(
        "--d-max", default=20, show_default=True, type=click.IntRange(1), help="Maximum number of neighbours at a hop."
    ),
    click.option(
        "--frontier", default=40, show_default=True, type=click.IntRange(1), help="Maximum entities at any hop in all."
    ),
    click.option("--answers", default=20, show_default=True, type=click.IntRange(1), help="Maximum answers."),
    click.option(
        "--characters",
        default=16_000,
        show_default=True,
        type=click.IntRange(1),
        help="Maximum characters of a conversation.",
    ),
    click.option("--allow", multiple=True, metavar="GLOB", help="Relations to follow. [default: all]"),
    click.option("--forbid", multiple=True, metavar="GLOB", help="Relations not to follow, such as 'type.*'."),
)


@click.group()
def walks() -> None:
    """Random walks over a graph as training data, and checks of such data (GraphWalker, section 2.2)."""


@walks.command(epilog=example("kgnav-bench walks make --graph films.kg --shape chain-3 --count 1000 -o chains.jsonl"))
@GRAPH
@click.option("--shape", required=True, type=click.Choice(_SHAPES), help="The pattern of the questions.")
@click.option("--count", default=1000, show_default=True, type=click.IntRange(1), help="Walks in the file.")
@click.option("--seed", default=1, show_default=True, help="The same seed makes the same walks on the same graph.")
@click.option("--seeds", type=FILE, help="Ids of entities to begin at, one on each line. [default: of all relations]")
@_LIMITS
@click.option("--ranked/--unranked", default=True, show_default=True, help="Rank relations by the question.")
@model_options(required=False)
@CONCURRENCY
@click.option("-o", "--output", required=True, type=NEW_FILE, help="JSON Lines file of conversations.")
@AGAIN
@PROGRESS
@explained
def make(output: Path, *, again: bool, progress: bool | None, **options: Any) -> None:  # noqa: ANN401 - each of its type
    """Write conversations along random walks of one SHAPE, as ShareGPT JSON Lines.

    A report with all dropped walks, by reason, is written beside the file.
    """
    from kgnav_bench.walks.making import Settings  # noqa: PLC0415 - `--help` needs none of it
    from kgnav_bench.walks.sampling import Limits  # noqa: PLC0415 - as above
    from kgnav_bench.walks.writing import discard  # noqa: PLC0415 - as above

    place = place_of(options["graph"], options["server"])
    if output.suffix != ".jsonl":
        raise click.UsageError(f"{output} must end with .jsonl: the report is written beside it.")
    if (options["model_url"] is None) != (options["model_name"] is None):
        raise click.UsageError("--model-url and --model go together.")
    if options["d_min"] > options["d_max"]:
        raise click.UsageError("--d-min is more than --d-max: no relation has such a number of neighbours.")
    output.parent.mkdir(parents=True, exist_ok=True)
    if again:
        discard(output)
    limits = Limits(**{field.name: options[field.name] for field in fields(Limits)})
    settings = Settings(Shape(options["shape"]), options["seed"], limits, options["ranked"])
    order = _Order(place, settings, output, sys.stderr.isatty() if progress is None else progress, options)
    asyncio.run(_make(order))


@dataclass(frozen=True, slots=True)
class _Order:
    """The request of `walks make`. `options` are the command's."""

    place: tuple[str | None, str | None]
    settings: Settings
    output: Path
    progress: bool
    options: Mapping[str, Any]

    @property
    def parameters(self) -> dict[str, object]:
        """Whatever the walks depend on."""
        graph, server = self.place
        limits = asdict(self.settings.limits)
        return {
            "command": "walks make",
            "graph": described(Path(graph)) if graph and Path(graph).is_file() else described(graph or server),
            "shape": self.settings.shape.value,
            "seed": self.settings.seed,
            "seeds": described(self.options["seeds"]),
            "ranked": self.settings.ranked,
            "model": self.options["model_name"] or "",
            "limits": {name: list(limit) if name in {"allow", "forbid"} else limit for name, limit in limits.items()},
            **{name: version(name) for name in ("kgnav-bench", "kgnav-mcp")},
        }


async def _make(order: _Order) -> None:
    from kgnav_bench.runs import Run  # noqa: PLC0415 - `--help` needs none of it
    from kgnav_bench.walks.writing import WalkFile, progress_file, summary  # noqa: PLC0415 - as above

    output, count = order.output, order.options["count"]
    with Run(progress_file(output), order.parameters) as run, WalkFile(output, run, order.settings.shape.value) as file:
        if file.state.kept:
            click.echo(f"{file.state.kept:,} walks are kept from {output}; --again makes them anew.", err=True)
        try:
            if file.state.kept < count:
                await _fill(file, order)
        finally:
            text = summary(file.state, order.parameters, output)
            output.with_suffix(".md").write_text(text + "\n", "utf-8")
    click.echo(text)
    click.echo(f"Written: {output}, {output.with_suffix('.md')}", err=True)


async def _fill(file: WalkFile, order: _Order) -> None:
    from kgnav_bench.walks.making import Maker  # noqa: PLC0415 - `--help` needs none of it
    from kgnav_bench.walks.session import connected  # noqa: PLC0415 - as above
    from kgnav_bench.walks.topics import given_topics, sampled_topics  # noqa: PLC0415 - as above

    options, settings = order.options, order.settings
    ids = _lines(options["seeds"]) if options["seeds"] else None
    async with AsyncExitStack() as stack:
        author = await _author(stack, options["model_url"], options["model_name"])
        session = await stack.enter_async_context(connected(*order.place))
        tools = await session.tools()
        topics = await (given_topics(session, ids) if ids else sampled_topics(session, settings.limits, settings.seed))
        maker = Maker(session, tools, topics, author, settings)
        async with aclosing(maker.in_order(file.state.numbers, options["concurrency"])) as made:
            await file.fill(made, options["count"], progress=order.progress)


def _lines(file: Path) -> list[str]:
    """The lines of a file that are not empty, each once."""
    from kgnav_bench.walks.session import UnusableServerError  # noqa: PLC0415 - as above

    lines = list(dict.fromkeys(line.strip() for line in file.read_text("utf-8").splitlines() if line.strip()))
    if not lines:
        raise UnusableServerError(f"{file} has no ids. Write one on each line, as the server prints them.")
    return lines


async def _author(stack: AsyncExitStack, url: str | None, name: str | None) -> Author:
    from kgnav_bench.walks.authors import ModelAuthor, Templates  # noqa: PLC0415 - as above

    if url is None or name is None:
        return Templates()
    from kgnav_bench.endpoints import connect  # noqa: PLC0415 - templates need no model

    return ModelAuthor(await stack.enter_async_context(connect(url, name)))


@walks.command(epilog=example("kgnav-bench walks check walks.jsonl --graph films.kg"))
@click.argument("file", type=FILE)
@GRAPH
@CONCURRENCY
@PROGRESS
@explained
def check(file: Path, graph: str | None, server: str | None, *, concurrency: int, progress: bool | None) -> None:
    """Check each conversation of FILE against a graph. The exit code is 1 if anything is wrong.

    Every call is repeated and must have the same answer; a thought, a call or the answer may name only what was shown
    before; and the answer must be complete, which is checked with one plan.
    """
    shown = sys.stderr.isatty() if progress is None else progress
    asyncio.run(_check(file, place_of(graph, server), concurrency, progress=shown))


async def _check(file: Path, place: tuple[str | None, str | None], concurrency: int, *, progress: bool) -> None:
    from tqdm import tqdm  # noqa: PLC0415 - `--help` needs none of it

    from kgnav_bench.walks.checking import KINDS, checked  # noqa: PLC0415 - as above
    from kgnav_bench.walks.session import connected  # noqa: PLC0415 - as above

    counted = Counter[str]()
    faults: list[str] = []
    async with connected(*place) as session:
        bar: tqdm[NoReturn] = tqdm(desc="check", unit=" walks", disable=not progress)
        with bar:
            async for one in checked(session, read_conversations(file), concurrency):
                bar.update()
                counted.update(("walks", *one.kinds))
                counted["calls"] += one.calls
                faults += [f"line {one.line}: {fault}" for fault in one.faults]
    if not counted["walks"]:
        raise UnreadableRecordsError(f"{file} is empty. Write walks to it with: kgnav-bench walks make")
    for fault in islice(faults, _SHOWN_FAULTS):
        click.echo(fault)
    if len(faults) > _SHOWN_FAULTS:
        click.echo(f"... and {len(faults) - _SHOWN_FAULTS:,} more")
    wrong = ", ".join(f"{counted[kind]:,} {kind}" for kind in KINDS)
    click.echo(f"{counted['walks']:,} walks, {counted['calls']:,} calls made again: {wrong}")
    if faults:
        raise click.exceptions.Exit(1)


walks.add_command(overlap)
walks.add_command(questions)
walks.add_command(roll)
