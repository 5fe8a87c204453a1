"""What every store of this script does, whatever it is made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import ClassVar


class Service(ABC):
    """One instance of a store, whose files are all under its home."""

    flags: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    """By command: its further flags, which have no value, with their meaning."""
    chosen: Collection[str] = ()
    """Those of them that were given."""

    @abstractmethod
    def __init__(self, home: Path) -> None: ...

    @property
    @abstractmethod
    def url(self) -> str:
        """The address that clients ask; the same at every start."""

    @abstractmethod
    def pid(self) -> int | None:
        """Its process, None where it does not run."""

    @abstractmethod
    def start(self) -> str:
        """Start it unless it runs, wait until it answers queries, and give its address.

        Raises:
            ServiceError: it cannot be installed, another program has its port, or it ended or hangs.
        """

    @abstractmethod
    def stop(self) -> bool:
        """Stop it and wait until it has ended; whether it was running.

        Raises:
            ServiceError: it does not end.
        """


class GraphStore(Service):
    """A store of graphs, which files are loaded into."""

    graph: ClassVar[str | None]
    """The graph that files are loaded into when no other is named; None is the store's default graph."""
    formats: ClassVar[tuple[str, ...]]
    """The names of files that can be loaded end in these."""

    @abstractmethod
    def load(self, files: Sequence[Path], graph: str | None) -> None:
        """Load files into a graph while it runs.

        Raises:
            ServiceError: it does not run, or a file is not there, is of another format or holds an error.
        """

    @abstractmethod
    def clear(self, graph: str | None) -> None:
        """Empty a graph.

        Raises:
            ServiceError: it does not run, or the text is no IRI.
        """
