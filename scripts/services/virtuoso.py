"""Virtuoso (OpenLink), the store of most copies of Freebase.

Its behaviour was observed on version 7.2.5, Debian's package.
"""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from . import isql, packages
from .failure import ServiceError
from .instance import (
    HOST,
    accepts,
    answers,
    checked_files,
    checked_iri,
    exclusive,
    free_port,
    is_free,
    load_instance,
    save_instance,
    wanted_port,
)
from .process import DetachedProcess
from .service import GraphStore
from .virtuoso_ini import VirtuosoInstance, configuration

_PACKAGE = "virtuoso-opensource-7-bin"
_SERVER = "virtuoso-t"
_PORT = "KGNAV_VIRTUOSO_PORT"

_STOP_TIMEOUT = 60.0
"""Maximum seconds to stop."""
_PAUSE = 0.05
"""Seconds between two looks at its ports."""

_LARGE_BYTES = 1_000_000
"""Bytes of loaded files above which query plans made before the load are too slow."""

_LISTED = "select concat('STATE=', ll_state, coalesce(ll_error, '')) from DB.DBA.load_list where ll_file = $file;"
_FORGET = "delete from DB.DBA.load_list where ll_file = $file;"
_FIRST_PASSWORD = "dba"  # noqa: S105 - the initial password of every new database


class Virtuoso(GraphStore):
    """Virtuoso 7: an RDF store with a SPARQL endpoint, as it serves copies of Freebase."""

    graph: ClassVar[str | None] = "http://kgnav.example/graph"
    formats: ClassVar[tuple[str, ...]] = (".nt", ".nt.gz", ".ttl", ".ttl.gz")

    def __init__(self, home: Path) -> None:
        self._home = home
        self._database = home / "database"
        self._incoming = home / "incoming"
        self._log = home / "output.log"
        self._ini = home / "virtuoso.ini"
        self._process = DetachedProcess(home / "process.id", str(self._ini), self._log)

    @property
    def url(self) -> str:
        with exclusive(self._home):
            return self._url(self._instance())

    def pid(self) -> int | None:
        return self._process.pid()

    def start(self) -> str:
        packages.ensure((_SERVER, isql.PROGRAM), _PACKAGE)
        with exclusive(self._home):
            instance = self._instance()
            self._launch_ready(instance)
            if not instance.secured:
                self._secure(instance)
            return self._url(instance)

    def stop(self) -> bool:
        with exclusive(self._home):
            return self._process.stop(_STOP_TIMEOUT)

    def load(self, files: Sequence[Path], graph: str | None) -> None:
        """Load files into a graph with the bulk loader, and index the words of its texts.

        After large files the server is restarted: it keeps the plan of each query that it compiled while the graph was
        empty, with which a query of 30 ms took over a minute.

        Raises:
            ServiceError: a file is missing, has another format or has an error. The lines before the
                error may already have been loaded.
        """
        checked_files(files, self.formats)
        name = isql.text(_graph(graph))
        with exclusive(self._home):
            self._running()
            for file in files:
                self._load(file, name)
            # The rule makes texts of this graph searchable; the index is then updated with the new data.
            self._sql(
                f"DB.DBA.RDF_OBJ_FT_RULE_ADD({name}, null, 'all');",
                "DB.DBA.VT_INC_INDEX_DB_DBA_RDF_OBJ();",
                "checkpoint;",
            )
            if sum(file.stat().st_size for file in files) > _LARGE_BYTES:
                self._restart(self._instance())

    def clear(self, graph: str | None) -> None:
        with exclusive(self._home):
            # Row by row and without a log, so that a large graph fits; the checkpoint makes it permanent.
            self._sql("log_enable(3, 1);", f"sparql clear graph <{_graph(graph)}>;", "checkpoint;")

    def _instance(self) -> VirtuosoInstance:
        known = load_instance(self._home, VirtuosoInstance)
        instance = known or VirtuosoInstance(free_port(), free_port(), secrets.token_hex(18))
        port = wanted_port(_PORT)
        if port is not None and self._process.pid() is None:  # a running instance keeps its port
            instance = replace(instance, port=port)
        if instance != known:
            save_instance(self._home, instance)
        return instance

    def _restart(self, instance: VirtuosoInstance) -> None:
        self._process.stop(_STOP_TIMEOUT)
        deadline = time.monotonic() + _STOP_TIMEOUT
        while not (is_free(instance.port) and is_free(instance.sql_port)) and time.monotonic() < deadline:
            time.sleep(_PAUSE)  # a stopped server may give its ports back a moment later
        self._launch_ready(instance)

    def _launch_ready(self, instance: VirtuosoInstance) -> None:
        """Launch the server unless it runs, and wait until it answers."""
        if self._process.pid() is None:
            self._launch(instance)
        address = f"{self._url(instance)}?query=ASK%7B%7D"
        # Its SQL port, by which it is administered, is opened after the endpoint.
        self._process.wait_until(lambda: answers(address) and accepts(instance.sql_port), _STOP_TIMEOUT)

    def _launch(self, instance: VirtuosoInstance) -> None:
        for port in (instance.port, instance.sql_port):
            if not is_free(port):
                raise ServiceError(f"another program listens on port {port} of this instance, {self._home}")
        for folder in (self._database, self._incoming):
            folder.mkdir(exist_ok=True)
        self._ini.write_text(configuration(self._home, instance), encoding="utf-8")
        self._process.start([_SERVER, "+foreground", "+configfile", str(self._ini)], self._database)

    def _secure(self, instance: VirtuosoInstance) -> None:
        """Replace the administrator's well-known initial password by the instance's own."""
        isql.run(_sql_address(instance), _FIRST_PASSWORD, [f'set password "dba" "{instance.password}";', "checkpoint;"])
        save_instance(self._home, replace(instance, secured=True))

    def _load(self, file: Path, graph: str) -> None:
        """Load a file under a unique name: the loader never accepts the same name twice."""
        suffix = next(suffix for suffix in self.formats if file.name.endswith(suffix))
        given = self._incoming / f"{secrets.token_hex(8)}{suffix}"
        listed = isql.text(str(given))
        try:
            shutil.copyfile(file, given)
            output = self._sql(
                f"ld_dir({isql.text(str(self._incoming))}, {isql.text(given.name)}, {graph});",
                "rdf_loader_run();",
                _LISTED.replace("$file", listed),
                _FORGET.replace("$file", listed),
                "checkpoint;",
            )
        finally:
            given.unlink(missing_ok=True)
        state = output.partition("STATE=")[2].strip()
        if state != "2":
            raise ServiceError(f"{file} could not be loaded: {state[1:] or 'the loader did not take it'}")

    def _running(self) -> VirtuosoInstance:
        instance = load_instance(self._home, VirtuosoInstance)
        if instance is None or self._process.pid() is None:
            raise ServiceError(f"it does not run; start it: scripts/service virtuoso start --home {self._home}")
        return instance

    def _sql(self, *statements: str) -> str:
        instance = self._running()
        return isql.run(_sql_address(instance), instance.password, statements)

    def _url(self, instance: VirtuosoInstance) -> str:
        return f"http://{HOST}:{instance.port}/sparql"


def _sql_address(instance: VirtuosoInstance) -> str:
    return f"{HOST}:{instance.sql_port}"


def _graph(graph: str | None) -> str:
    if graph is None:
        raise ServiceError("files are loaded into a graph with a name; name it with --graph-iri")
    return checked_iri(graph)
