"""One union-free form of a pattern, as a query."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kgnav_mcp.adapters.embedded.plans.sort_keys import LIST
from kgnav_mcp.adapters.embedded.plans.statement import Term, TermKind, unsupported
from kgnav_mcp.adapters.embedded.queries import plans as pieces
from kgnav_mcp.plan import EdgePattern, PathPattern


@dataclass(slots=True)
class Branch:
    """One union-free form of a pattern: the tables it reads, its conditions, and its variables."""

    rows: list[str]
    conditions: list[str]
    scope: dict[str, Term]
    edges: list[str] = field(default_factory=list[str])
    """Variables of the edges that it binds, including edges within trails."""

    def query(self, selected: str) -> str:
        """Returns the query for its rows with these columns."""
        rows = f" FROM {' CROSS JOIN '.join(self.rows)}" if self.rows else ""
        where = f" WHERE {' AND '.join(f'({each})' for each in self.conditions)}" if self.conditions else ""
        return f"SELECT {selected}{rows}{where}"

    def path(self, path: PathPattern, edges: Iterable[EdgePattern]) -> Term:
        """Returns the term of a named path: its nodes and edges in turn."""
        patterns = {edge.variable: edge for edge in edges}
        backwards, elements = "", list[str]()
        for previous, name in zip((path.elements[0], *path.elements), path.elements, strict=False):
            term = self.scope[name]
            if name in patterns:
                backwards += "0" if previous == patterns[name].source else "1"
            if term.kind is TermKind.EDGE:
                elements.append(pieces.EDGE_ALONE.format(list=LIST, **_edge_columns(term)))
            else:
                elements.append(term.one)
        return Term(TermKind.PATH_OR_LIST, (f"kg_path('{backwards}', {', '.join(elements)})",))

    def keep_apart(self, *names: str) -> None:
        """Adds the condition that a searched path does not contain an edge of the pattern.

        Raises:
            Unsupported: both names are searched paths.
        """
        path, edge = sorted((self.scope[name] for name in names), key=lambda term: len(term.sql))
        if edge.kind is not TermKind.EDGE:
            raise unsupported("several paths that share no edge")
        self.conditions.append(f"NOT {pieces.EDGE_IN.format(edges=path.one, **_edge_columns(edge))}")


def _edge_columns(edge: Term) -> dict[str, str]:
    return dict(zip(("s", "p", "o", "n"), edge.sql, strict=True))
