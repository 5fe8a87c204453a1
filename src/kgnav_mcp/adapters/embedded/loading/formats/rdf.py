"""Reads the syntaxes of RDF that pyoxigraph parses. Triples are staged in batches.

Named graphs are merged; quoted triples are kept for their qualifiers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice

import pyoxigraph as ox

from kgnav_mcp.adapters.embedded.loading import queries, rdf_parser
from kgnav_mcp.adapters.embedded.loading.formats.beginnings import xml_root
from kgnav_mcp.adapters.embedded.loading.names import NameRules
from kgnav_mcp.adapters.embedded.loading.options import LoadProblems
from kgnav_mcp.adapters.embedded.loading.rdf_parser import Batch, Encoder
from kgnav_mcp.adapters.embedded.loading.sources import FileFormat, Source, translated
from kgnav_mcp.adapters.embedded.loading.staging_writer import Staging
from kgnav_mcp.errors import BadLine, LoadError


def read_rdf(source: Source, index: int, staging: Staging, rules: NameRules, problems: LoadProblems) -> None:
    """Stages every triple of a source. `index` distinguishes its blank nodes from those of other sources.

    Raises:
        LoadError: the source cannot be read.
        BadLine: it has an error, and bad lines are not skipped or cannot be in this format.
    """
    numbers = _NumberMap()
    for batch in _batches(source, index, staging, problems):
        _stage_batch(batch, numbers, staging, rules)
        if staging.pending >= queries.BATCH or staging.text >= queries.BATCH_TEXT:
            staging.checkpoint(source.name, batch.position)
    staging.finish(source.name, source.size)


def stage_quads(
    quads: Iterable[ox.Quad],
    source: Source,
    index: int,
    staging: Staging,
    rules: NameRules,
    *,
    position: Callable[[], int],
) -> None:
    """Stages the triples of a source that another reader parses.

    `position` returns the number of bytes of it read so far.
    """
    numbers, encoder, statements = _NumberMap(), Encoder(index), iter(quads)
    for first in statements:
        batch = encoder.encode(chain((first,), islice(statements, rdf_parser.QUADS - 1)), 0, queries.BATCH_TEXT)
        _stage_batch(batch, numbers, staging, rules)
        staging.checkpoint(source.name, position())
    staging.finish(source.name, source.size)


def read_rdf_names(source: Source, staging: Staging, rules: NameRules, problems: LoadProblems) -> None:
    """Stages the names, aliases and descriptions in a file of names. Other triples are ignored.

    Raises:
        LoadError: the source cannot be read.
        BadLine: it has an error, and bad lines are not skipped or cannot be in this format.
    """
    keys: list[str] = []
    kinds: list[tuple[int, int] | None] = []
    for batch in _batches(source, 0, staging, problems):
        if batch.restart:
            keys, kinds = [""], []
        keys += batch.nodes
        kinds += rules.kinds_of(batch.relations)
        for head, link, (text, _, language) in batch.literals:
            kind, key = kinds[link], keys[head]
            if kind is not None and text.strip() and not key.startswith("_:"):
                staging.named_keys.append((key, kind[0], rules.rank(kind[1], language), language, text))
        staging.checkpoint(source.name, batch.position)
    staging.finish(source.name, source.size)


def _batches(source: Source, index: int, staging: Staging, problems: LoadProblems) -> Iterator[Batch]:
    """Yields the batches of a source, and translates errors."""
    with translated(source):
        try:
            for batch in rdf_parser.batches(source, index, staging.prefixes, skip_bad=problems.skip_bad):
                for line, reason in batch.rejected:
                    problems.reject(source.name, line, reason)
                yield batch
        except SyntaxError as error:
            raise _translate_syntax_error(source, error, skip_bad=problems.skip_bad) from error


class _NumberMap:
    """Maps numbers within batches to numbers of the whole load, and to the kinds of names that relations give."""

    def __init__(self) -> None:
        self.nodes = [0]
        self.relations: list[int] = []
        self.kinds: list[tuple[int, int] | None] = []

    def take(self, batch: Batch, staging: Staging, rules: NameRules) -> None:
        """Adds the new nodes and relations of a batch."""
        if batch.restart:
            self.nodes, self.relations, self.kinds = [0], [], []
        get_id, add = staging.terms.ids.get, staging.terms.add
        self.nodes += [get_id(key) or add(key) for key in batch.nodes]
        self.relations += [staging.relation(key) for key in batch.relations]
        self.kinds += rules.kinds_of(batch.relations)


def _stage_batch(batch: Batch, numbers: _NumberMap, staging: Staging, rules: NameRules) -> None:
    """Stages a batch, with its numbers replaced by those of the whole load."""
    numbers.take(batch, staging, rules)
    nodes, relations, kinds = numbers.nodes, numbers.relations, numbers.kinds
    node, relation = nodes.__getitem__, relations.__getitem__
    staging.text += batch.text
    staging.add_triples(map(node, batch.heads), map(relation, batch.links), map(node, batch.tails), len(batch.heads))
    for head, link, value in batch.literals:
        staging.literals.append((nodes[head], relations[link], *value))
        kind = kinds[link]
        if kind is not None and value[0].strip():  # a blank text is a value, but no name
            text, _, language = value
            staging.namings.append((nodes[head], kind[0], rules.rank(kind[1], language), language, text))
    for reifier, head, link, tail in batch.reifiers:
        if isinstance(tail, int):
            staging.reifiers.append((nodes[reifier], nodes[head], relations[link], nodes[tail], None, None, None))
        else:
            staging.reifiers.append((nodes[reifier], nodes[head], relations[link], None, *tail))


def _translate_syntax_error(source: Source, error: SyntaxError, *, skip_bad: bool) -> LoadError:
    if "LoadDocumentCallback" in error.msg:
        return LoadError(
            f"{source.name}: it refers to a JSON-LD context on the Web, and only the sources are read",
            next_step="Write the context into the file, or convert it to N-Triples first.",
        )
    if source.form.name in rdf_parser.LINE_FORMATS:
        step = "Correct the line, or skip it with --skip-bad."
    elif skip_bad:
        step = (
            f"--skip-bad does not work with {source.form.title}, where a statement spans lines: correct the line, or "
            f"convert the file to N-Triples."
        )
    else:
        step = "Correct the line. Only N-Triples and N-Quads support --skip-bad."
    return BadLine(source.name, error.lineno, rdf_parser.reason(error), next_step=step)


_KEYWORD = re.compile(rb'\s*[\[{].*"@(?:context|id)"', re.DOTALL)

SYNTAXES = (
    FileFormat("nt", "N-Triples", "rdf", (".nt", ".ntriples"), read=read_rdf),
    FileFormat("nq", "N-Quads", "rdf", (".nq", ".nquads"), read=read_rdf),
    FileFormat("ttl", "Turtle", "rdf", (".ttl", ".turtle"), read=read_rdf),
    FileFormat("trig", "TriG", "rdf", (".trig",), read=read_rdf),
    FileFormat("n3", "Notation3", "rdf", (".n3",), read=read_rdf),
    FileFormat("rdf", "RDF/XML", "rdf", (".rdf", ".owl", ".xml"), xml_root(rb"rdf:RDF"), read=read_rdf),
)
JSON_LD = FileFormat("jsonld", "JSON-LD", "rdf", (".jsonld",), _KEYWORD.match, read=read_rdf)
