"""Runs a load: reads the sources into a staging file, writes a part file, then replaces the target."""

from __future__ import annotations

import gc
import json
import os
import re
import secrets
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from types import FrameType
from typing import TypeVar

from kgnav_mcp.adapters.embedded import fileformat, graphfile
from kgnav_mcp.adapters.embedded.fileformat import APPLICATION_ID, FORMAT_VERSION
from kgnav_mcp.adapters.embedded.loading import queries, writer
from kgnav_mcp.adapters.embedded.loading.options import LoadOptions, LoadReport, ProgressListener
from kgnav_mcp.adapters.embedded.loading.rdf_rewriting import attach_qualifiers, collect_statements, fold_expressions
from kgnav_mcp.adapters.embedded.loading.recognition import check_together, recognise, recognise_names
from kgnav_mcp.adapters.embedded.loading.source_reader import Reading
from kgnav_mcp.adapters.embedded.loading.staging_writer import TERM_BUDGET, Staging
from kgnav_mcp.adapters.embedded.loading.wikibase import fold_statements, used_relations
from kgnav_mcp.adapters.embedded.loading.writer import (
    committed,
    copy_nodes,
    count_attributes,
    count_edges,
    fill_node_file,
    node_file,
    write_statistics,
)
from kgnav_mcp.clipping import clipped
from kgnav_mcp.errors import LoadError


def check_paths(sources: Iterable[Path], target: Path) -> None:
    """Checks that the system accepts the paths of the sources and of the files written beside the target.

    Raises:
        LoadError: a name is too long, or the path is invalid.
    """
    written = PartFile(target).longest if target.name else target  # a folder such as `.` is refused later
    for path in (*sources, written):
        try:
            path.lstat()
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue
        except (OSError, ValueError) as error:
            shown = clipped(path.name, LONGEST_NAME)
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise LoadError(f"{shown}: {reason}", next_step="Give the file a shorter name.") from error


def check_target(target: Path, sources: Sequence[Path], *, force: bool) -> None:
    """Checks that writing the target loses nothing. Reads only the first bytes of the target.

    Raises:
        LoadError: the target's folder is missing, or the target is a folder, is one of the sources (also by another
            path), or is not a graph file and `force` is false.
    """
    if target.is_dir():
        raise LoadError(
            f"{target} is a folder, not a file to write", next_step=f"Name a file in it: -o {target / 'graph.kg'}"
        )
    if not target.parent.is_dir():
        raise LoadError(f"the folder {target.parent} does not exist", next_step="Make it first.")
    if not target.exists():
        return
    for source in sources:
        if source.exists() and target.samefile(source):
            raise LoadError(
                f"{target} is a source of this load and would be overwritten",
                next_step=f"Write the graph into another file: -o {graphfile.output_path_for(target)}",
            )
    if not target.is_file():
        raise LoadError(f"{target} is not a regular file", next_step="Name a file that may be replaced.")
    if target.stat().st_size and not force and not graphfile.is_graph_file(target):
        raise LoadError(
            f"{target} exists and is not a graph file, so it is not overwritten",
            next_step=f"Write the graph into another file: -o {graphfile.output_path_for(target)}. "
            "Or load with --force.",
        )


def check_distinct(sources: Sequence[Path]) -> None:
    """Checks that no source is given twice, which would duplicate its blank nodes and parallel edges.

    Raises:
        LoadError: two paths lead to the same file.
    """
    existing = [source for source in sources if source.exists()]
    for first, second in combinations(existing, 2):
        if first.samefile(second):
            message = f"{first} is given twice" if first == second else f"{first} and {second} are the same file"
            raise LoadError(message, next_step="Give each source once.")


LONGEST_NAME = 100
"""Maximum length in characters of a file's name in a message."""


class PartFile:
    """The file `<target>.part-<pid>` and its temporary files beside it.

    On entry, removes part files left by dead processes. On exit, removes its own files.
    """

    def __init__(self, target: Path) -> None:
        self._target = target
        self.path = target.with_name(f"{target.name}.part-{os.getpid()}")
        self.staging = target.with_name(f"{self.path.name}-staging")
        self.longest = self.staging
        """The path with the longest name."""
        self.nodes = target.with_name(f"{self.path.name}-nodes")

    def __enter__(self) -> PartFile:
        remove_leftovers(self._target)
        return self

    def __exit__(self, *_: object) -> None:
        for path in (self.path, self.staging, self.nodes):
            path.unlink(missing_ok=True)

    def commit(self) -> None:
        """Replaces the target by the part file. It is safely on disk when this returns."""
        with self.path.open("rb+") as file:
            os.fsync(file.fileno())
        self.path.replace(self._target)
        if os.name == "posix":
            folder = os.open(self._target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


def remove_leftovers(target: Path) -> None:
    """Removes part files of this target whose process no longer runs. A killed load leaves nothing else behind."""
    pattern = re.compile(re.escape(target.name) + r"\.part-(\d+)(-staging|-nodes)?")
    for path in target.parent.iterdir():
        match = pattern.fullmatch(path.name)
        if match and not _is_running(int(match[1])):
            with suppress(PermissionError):  # Windows keeps a file that a living process has open
                path.unlink(missing_ok=True)


def _is_running(pid: int) -> bool:
    """Whether another process has this id. Always false off POSIX, where checking a process would end it.

    There, a file that a process has open cannot be deleted anyway.
    """
    if pid == os.getpid() or os.name != "posix":
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


T = TypeVar("T")

STEPS = 2_000_000
"""The number of SQLite's steps between two checks for a signal: some hundredths of a second.

Each check needs Python's lock.
"""


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


class Interrupts:
    """Keeps the KeyboardInterrupt that a signal raised.

    A signal that arrives while SQLite runs is handled in SQLite's progress handler. This stops the statement, but
    SQLite loses the exception. `stopped_by` keeps it, so that it can be raised again after the statement.
    """

    def __init__(self) -> None:
        self.stopped_by: KeyboardInterrupt | None = None

    @contextmanager
    def watched(self) -> Generator[None]:
        """Keeps what the handlers of SIGINT and SIGTERM raise. A SIGTERM that would kill the process raises as well.

        Python runs signal handlers in the main thread only, so a load in another thread does not change them.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        previous = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

        def relay(number: int, frame: FrameType | None) -> None:
            handler = previous[signal.Signals(number)]
            try:
                (handler if callable(handler) else _interrupt)(number, frame)
            except KeyboardInterrupt as stop:
                self.stopped_by = stop
                raise

        for number, handler in previous.items():
            if handler is not None and handler != signal.SIG_IGN:
                signal.signal(number, relay)
        try:
            yield
        finally:
            for number, handler in previous.items():
                if handler is not None:
                    signal.signal(number, handler)

    @staticmethod
    def run_signal_handlers() -> int:
        """SQLite's progress handler. Does nothing, but entering Python runs the handlers of pending signals."""
        return 0


class Background:
    """Threads that run SQLite in parallel. SQLite releases Python's lock, so that several cores are used.

    On exit, running work is stopped and waited for.
    """

    def __init__(self, threads: int) -> None:
        self._stopped = threading.Event()
        self._threads = ThreadPoolExecutor(threads, "kgnav-load")

    def __enter__(self) -> Background:
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._threads.shutdown()

    def begin(self, connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> Future[T]:
        """Starts work on its own connection, which must be usable in any thread and is closed afterwards."""
        connection.set_progress_handler(self._stopped.is_set, STEPS)
        return self._threads.submit(_run_and_close, connection, work)


def _run_and_close(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    with closing(connection):
        return work(connection)


def load(
    sources: Sequence[Path],
    target: Path,
    options: LoadOptions = LoadOptions(),  # noqa: B008 - it is frozen
    progress: ProgressListener | None = None,
    *,
    term_budget: int = TERM_BUDGET,
) -> LoadReport:
    """Writes a graph file from sources. The target is replaced in one step at the end, or not touched at all.

    The same sources in the same order give the same rows. `term_budget` limits the bytes of node keys in memory.
    Whatever the sources contain, a load stays below 2 GB of memory, and its parser process below 1 GB, because texts,
    lines, nesting, and names of relations, properties and labels have limits. Only prefixes and languages, which are
    few in any data, have none.

    Raises:
        LoadError: a source cannot be read, or the file cannot be written.
        BadLine: a line is wrong, and bad lines are not skipped.
    """
    started = time.perf_counter()
    if not sources:
        raise LoadError("no sources are given", next_step="Give the files to load.")
    target = Path(target)
    check_paths([*sources, *options.labels], target)
    check_target(target, [*sources, *options.labels], force=options.force)
    check_distinct(sources)
    options.tables.check()
    recognised = [source for path in sources for source in recognise(Path(path), options)]
    headers = [(source.name, source.header) for source in recognised if source.layout.header is not None]
    options.tables.columns.check_used(headers)
    options.tables.check_encoding_used(source.encoding for source in recognised)
    check_together(recognised, nodes_from_edges=options.nodes_from_edges)
    labels = [recognise_names(Path(path)) for path in options.labels]
    interrupts = Interrupts()
    with interrupts.watched(), without_garbage_collection(), PartFile(target) as part:
        with _translate_write_errors(target, interrupts), closing(_connect(part)) as connection:
            staging = Staging(connection, term_budget=term_budget, progress=progress)
            reading = Reading(recognised, labels, staging, options)
            reading.read()
            hidden = _write_relations_and_labels(reading, options)
            sampled = _write_edges_and_nodes(part, reading, options)
            entities, triples = connection.execute(queries.COUNT_ALL).fetchone()
            if not triples and not entities:
                raise LoadError("the sources have no triples", next_step="Check that they are the right files.")
            counts = {"entities": entities, "triples": triples, "sampled": "yes" if sampled else "no"}
            _write_meta(reading, options, counts, hidden)
            connection.execute("COMMIT")
        with _translate_write_errors(target, interrupts):
            part.commit()
    return LoadReport(
        entities=entities,
        triples=triples,
        bad_lines=reading.problems.bad_lines,
        first_bad_lines=tuple(reading.problems.first_bad_lines),
        seconds=time.perf_counter() - started,
        sampled=sampled,
        sources=tuple(reading.names),
        notes=tuple(reading.problems.notes),
        warnings=tuple(reading.problems.warnings),
    )


@contextmanager
def without_garbage_collection() -> Generator[None]:
    """Disables the cyclic garbage collector: a load creates no cycles, and their search takes a third of reading."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _write_relations_and_labels(reading: Reading, options: LoadOptions) -> list[str]:
    """Writes relations and labels, and commits the staged rows so that other connections can read them.

    Returns the keys of relations that are hidden.
    """
    staging = reading.staging
    connection = staging.connection
    name = reading.sources[-1].name
    staging.report_progress(name, 0, "sorting")
    if staging.terms.overflowed:
        writer.unify_terms(connection)
    staging.terms.ids.clear()
    connection.execute(queries.NAME_BLANK_NODES, (reading.last_rdf,))
    if reading.last_declared is not None:
        writer.reject_undeclared(connection, reading.last_declared, reading.names, reading.problems)
    hidden: list[str] = []
    if reading.wikibase is not None:
        hidden = fold_statements(staging, reading.wikibase, options.statements, reading.problems)
        reading.type_relations = used_relations(staging, reading.type_relations)
    writer.write_relations(connection, staging)
    _fold_ontology(reading, folded=options.owl == "folded")
    attach_qualifiers(connection, staging)
    writer.mark_deprecated(connection, staging)
    writer.write_labels(connection, staging, reading.type_relations)
    connection.execute("COMMIT")
    return hidden


def _fold_ontology(reading: Reading, *, folded: bool) -> None:
    """Collects statements about triples, folds class expressions of OWL into edges, and notes how many."""
    staging = reading.staging
    axioms = collect_statements(staging.connection, staging, axioms=folded)
    parts = [fold_expressions(staging.connection, staging)] if folded else []
    if axioms:
        parts.append(f"{axioms:,} owl:Axiom annotations became qualifiers of the triples that they annotate")
    if note := "; ".join(filter(None, parts)):
        reading.problems.notes.append(f"ontology: {note} (--owl raw loads the triples as they are)")


def _write_edges_and_nodes(part: PartFile, reading: Reading, options: LoadOptions) -> bool:
    """Writes edges, nodes and counts in several threads. Returns whether the schema's counts come from a sample.

    The transaction of the counts is left open.
    """
    staging = reading.staging
    connection = staging.connection
    name = reading.sources[-1].name
    with Background(threads=3) as background:
        fill = partial(fill_node_file, options=options, last_rdf=reading.last_rdf, opaque=staging.unprefixed)
        nodes = background.begin(node_file(part.nodes, part.staging), fill)
        connection.execute("BEGIN")
        writer.write_edges(connection)
        connection.execute("COMMIT")
        edges = background.begin(committed(part.path), count_edges)
        nodes.result()
        copy_nodes(connection, part.nodes)
        attributes = background.begin(committed(part.path), count_attributes)
        staging.report_progress(name, 0, "indexing")
        connection.execute("BEGIN")
        writer.write_joins(connection)
        connection.execute("COMMIT")
        staging.report_progress(name, 0, "counting")
        connection.execute("BEGIN")
        return write_statistics(connection, edges.result(), attributes.result())


def _connect(part: PartFile) -> sqlite3.Connection:
    """Opens the part file and its staging file, without a journal: a failed load needs no rollback."""
    connection = sqlite3.connect(part.path, isolation_level=None)
    connection.execute("ATTACH ? AS staging", (str(part.staging),))
    for schema in ("main", "staging"):
        connection.execute(f"PRAGMA {schema}.journal_mode = OFF")
        connection.execute(f"PRAGMA {schema}.synchronous = OFF")
        connection.execute(f"PRAGMA {schema}.cache_size = -4000")
    connection.execute("PRAGMA secure_delete = OFF")
    connection.execute("PRAGMA main.locking_mode = EXCLUSIVE")
    connection.execute("PRAGMA threads = 2")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
    connection.executescript(fileformat.TABLES)
    connection.executescript(queries.STAGING_TABLES)
    connection.set_progress_handler(Interrupts.run_signal_handlers, STEPS)
    connection.execute("BEGIN")
    return connection


@contextmanager
def _translate_write_errors(target: Path, interrupts: Interrupts) -> Generator[None]:
    """Translates errors of writing."""
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        if name == "SQLITE_INTERRUPT":
            raise interrupts.stopped_by or KeyboardInterrupt from error
        if name == "SQLITE_FULL" or name.startswith("SQLITE_IOERR"):
            raise LoadError(
                f"{target.name} could not be written: the disk is full or fails",
                next_step="Free some space: a load needs about twice the size of the finished file.",
            ) from error
        raise LoadError(f"{target.name} could not be written", next_step="Check the target's folder.") from error
    except OSError as error:
        raise LoadError(
            f"{target.name} could not be written: {error.strerror}", next_step="Check the target's folder."
        ) from error


def _write_meta(reading: Reading, options: LoadOptions, counts: Mapping[str, object], hidden: Sequence[str]) -> None:
    staging = reading.staging
    chosen, coined = writer.choose(staging.connection, staging.prefixes)
    meta: dict[str, object] = {
        "format": FORMAT_VERSION,
        "revision": secrets.token_hex(8),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "generator": f"kgnav-mcp {version('kgnav-mcp')}",
        "kind": reading.kind,
        "sources": json.dumps(reading.names),
        "prefixes": json.dumps(chosen),
        "coined_prefixes": json.dumps(coined),
        "bracketed": "yes" if writer.has_two_readings(staging.connection, chosen) else "no",
        "mediators": options.mediators,
        "type_relations": json.dumps(reading.type_relations),
        "languages": json.dumps(options.languages),
        "unprefixed": json.dumps(staging.unprefixed),
        "hidden_relations": json.dumps(hidden),
        "undirected": reading.undirected,
        **counts,
    }
    staging.connection.executemany(queries.WRITE_META, ((key, str(value)) for key, value in meta.items()))
