"""Virtuoso (OpenLink), the store that most copies of Freebase live in.

What is said of its behaviour here was seen on 7.2.5, the version of Debian's package.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from . import isql, packages
from .failure import ServiceError
from .instance import HOST, Instance, exclusive, is_free, new_instance, remember, remembered
from .process import DetachedProcess
from .virtuoso_ini import configuration

_PACKAGE = "virtuoso-opensource-7-bin"
_SERVER = "virtuoso-t"
_PORT = "KGNAV_VIRTUOSO_PORT"

_STARTS, _STOPS = 120.0, 60.0
"""Seconds it may take to start (after a crash it replays its log first) and to stop."""

_FORMATS = (".nt", ".nt.gz", ".ttl", ".ttl.gz")
_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|\\^`']+")
_LISTED = "select concat('STATE=', ll_state, coalesce(ll_error, '')) from DB.DBA.load_list where ll_file = $file;"
_FORGET = "delete from DB.DBA.load_list where ll_file = $file;"
_FIRST_PASSWORD = "dba"  # noqa: S105 - what every new database has until it is given another
_SHOWN = 10
"""Lines of its log that are shown when it does not start."""


class Virtuoso:
    """Virtuoso 7: an RDF store with a SPARQL endpoint, as it serves copies of Freebase."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._database = home / "database"
        self._incoming = home / "incoming"
        self._log = home / "output.log"
        self._ini = home / "virtuoso.ini"
        self._process = DetachedProcess(home / "process.id", str(self._ini))

    @property
    def url(self) -> str:
        """The address of the SPARQL endpoint; the same at every start."""
        with exclusive(self._home):
            return self._url(self._instance())

    def pid(self) -> int | None:
        """Its process, None where it does not run."""
        return self._process.pid()

    def start(self) -> str:
        """Start it unless it runs, wait until it answers queries, and give its address.

        Raises:
            ServiceError: it cannot be installed, another program has its port, or it ended or hangs.
        """
        packages.ensure((_SERVER, isql.PROGRAM), _PACKAGE)
        with exclusive(self._home):
            instance = self._instance()
            if self._process.pid() is None:
                self._launch(instance)
            self._wait(instance)
            if not instance.secured:
                self._secure(instance)
            return self._url(instance)

    def stop(self) -> bool:
        """Stop it and wait until it has ended; whether it was running.

        Raises:
            ServiceError: it does not end.
        """
        with exclusive(self._home):
            return self._process.stop(_STOPS)

    def load(self, files: Sequence[Path], graph: str) -> None:
        """Load files into a graph with the bulk loader, and index the words of its texts.

        Raises:
            ServiceError: a file is not there, is of another format or holds an error. What its lines before the
                error say may have been loaded by then.
        """
        for file in files:
            if not file.is_file():
                raise ServiceError(f"there is no file {file}")
            if not file.name.endswith(_FORMATS):
                raise ServiceError(f"{file} is none of {', '.join(_FORMATS)}")
        name = isql.text(_graph(graph))
        with exclusive(self._home):
            self._running()
            for file in files:
                self._load(file, name)
            # The rule makes texts of this graph searchable; the index then takes in what was loaded since it last did.
            self._sql(
                f"DB.DBA.RDF_OBJ_FT_RULE_ADD({name}, null, 'all');",
                "DB.DBA.VT_INC_INDEX_DB_DBA_RDF_OBJ();",
                "checkpoint;",
            )

    def clear(self, graph: str) -> None:
        """Empty a graph.

        Raises:
            ServiceError: it does not run, or the text is no IRI.
        """
        with exclusive(self._home):
            # Row by row and without a log, so that a large graph fits; the checkpoint makes it last.
            self._sql("log_enable(3, 1);", f"sparql clear graph <{_graph(graph)}>;", "checkpoint;")

    def _instance(self) -> Instance:
        known = remembered(self._home)
        instance = known or new_instance()
        if _PORT in os.environ and self._process.pid() is None:  # while it runs it stays where it is
            instance = replace(instance, port=_port(os.environ[_PORT]))
        if instance != known:
            remember(self._home, instance)
        return instance

    def _launch(self, instance: Instance) -> None:
        for port in (instance.port, instance.sql_port):
            if not is_free(port):
                raise ServiceError(f"another program listens on port {port} of this instance, {self._home}")
        for folder in (self._database, self._incoming):
            folder.mkdir(exist_ok=True)
        self._ini.write_text(configuration(self._home, instance), encoding="utf-8")
        self._process.start([_SERVER, "+foreground", "+configfile", str(self._ini)], self._database, self._log)

    def _wait(self, instance: Instance) -> None:
        deadline = time.monotonic() + _STARTS
        while not _answers(f"{self._url(instance)}?query=ASK%7B%7D"):
            if self._process.pid() is None:
                raise ServiceError(f"it ended while it started; {self._log} ends with:\n{self._last_words()}")
            if time.monotonic() > deadline:
                self._process.stop(_STOPS)
                raise ServiceError(f"no answer {_STARTS:g} s after its start; it said:\n{self._last_words()}")
            time.sleep(0.05)

    def _secure(self, instance: Instance) -> None:
        """Give the administrator a password of this instance's own, in place of the one everybody knows."""
        isql.run(_sql_address(instance), _FIRST_PASSWORD, [f'set password "dba" "{instance.password}";', "checkpoint;"])
        remember(self._home, replace(instance, secured=True))

    def _load(self, file: Path, graph: str) -> None:
        """Through a name of its own: the loader never takes a name again that it had once."""
        suffix = next(suffix for suffix in _FORMATS if file.name.endswith(suffix))
        given = self._incoming / f"{secrets.token_hex(8)}{suffix}"
        listed = isql.text(str(given))
        try:
            shutil.copyfile(file, given)
            said = self._sql(
                f"ld_dir({isql.text(str(self._incoming))}, {isql.text(given.name)}, {graph});",
                "rdf_loader_run();",
                _LISTED.replace("$file", listed),
                _FORGET.replace("$file", listed),
                "checkpoint;",
            )
        finally:
            given.unlink(missing_ok=True)
        state = said.partition("STATE=")[2].strip()
        if state != "2":
            raise ServiceError(f"{file} could not be loaded: {state[1:] or 'the loader did not take it'}")

    def _running(self) -> Instance:
        instance = remembered(self._home)
        if instance is None or self._process.pid() is None:
            raise ServiceError(f"it does not run; start it: scripts/service virtuoso start --home {self._home}")
        return instance

    def _sql(self, *statements: str) -> str:
        instance = self._running()
        return isql.run(_sql_address(instance), instance.password, statements)

    def _url(self, instance: Instance) -> str:
        return f"http://{HOST}:{instance.port}/sparql"

    def _last_words(self) -> str:
        with suppress(FileNotFoundError):
            return "\n".join(self._log.read_text(encoding="utf-8", errors="replace").splitlines()[-_SHOWN:])
        return "(nothing)"


def _sql_address(instance: Instance) -> str:
    return f"{HOST}:{instance.sql_port}"


def _answers(url: str) -> bool:
    """Whether an address answers a query, straight and not through any proxy that the environment names."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(url, timeout=5) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False


def _graph(iri: str) -> str:
    if not _IRI.fullmatch(iri):
        raise ServiceError(f"{iri!r} is no full IRI for a graph")
    return iri


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 65536:
        raise ServiceError(f"{_PORT} is {text!r}, not the number of a port")
    return int(text)
