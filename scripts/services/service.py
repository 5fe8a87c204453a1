"""The interface of all stores of this script."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import ClassVar


class Service(ABC):
    """One instance of a store. All its files are in its home folder."""

    flags: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    """Additional flags without values, by command, with their meanings."""
    data: ClassVar[str | None] = None
    """The folder in its home for what is loaded; None if it keeps everything in memory."""
    chosen: Collection[str] = ()
    """The flags that were given."""

    @abstractmethod
    def __init__(self, home: Path) -> None: ...

    @property
    @abstractmethod
    def url(self) -> str:
        """The URL for clients, the same at every start."""

    @abstractmethod
    def pid(self) -> int | None:
        """Its process id; None if it does not run."""

    @abstractmethod
    def start(self) -> str:
        """Start it unless it runs, wait until it answers queries, and return its URL.

        Raises:
            ServiceError: it cannot be installed, its port is in use, or it ended or hangs.
        """

    @abstractmethod
    def stop(self) -> bool:
        """Stop it and wait until it has ended. Returns whether it was running.

        Raises:
            ServiceError: it does not end.
        """


class GraphStore(Service):
    """A graph store into which files can be loaded."""

    data: ClassVar[str | None] = "database"
    graph: ClassVar[str | None]
    """The default graph for loading; None for the store's own default graph."""
    formats: ClassVar[tuple[str, ...]]
    """Suffixes of the files that can be loaded."""

    @abstractmethod
    def load(self, files: Sequence[Path], graph: str | None) -> None:
        """Load files into a graph while the store runs.

        Raises:
            ServiceError: it does not run, or a file is missing, has another format or has an error.
        """

    @abstractmethod
    def clear(self, graph: str | None) -> None:
        """Empty a graph.

        Raises:
            ServiceError: it does not run, or the name is not an IRI.
        """
