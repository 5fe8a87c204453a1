"""Which relations a set of entities has: one grouped query, names, and a few far ends of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from rdflib import URIRef

from kgnav_mcp.adapters.freebase.examples import Ends, Examples
from kgnav_mcp.adapters.freebase.names import Names
from kgnav_mcp.adapters.freebase.store import Store
from kgnav_mcp.adapters.freebase.tallies import Path, Tallies, Tally
from kgnav_mcp.adapters.sparql.reading import worst
from kgnav_mcp.adapters.sparql.results import Term
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.model import Direction, Page, Relation, RelationFacts, Stop
from kgnav_mcp.port import TailKind


class RelationReader:
    """Answers `relations`."""

    def __init__(self, store: Store, names: Names, tallies: Tallies) -> None:
        self._store = store
        self._names = names
        self._tallies = tallies
        self._examples = Examples(store, names)

    async def page(
        self,
        anchors: Sequence[URIRef],
        direction: Direction,
        *,
        hops: int,
        far_ends: TailKind | None,
        examples: int,
        limit: int,
    ) -> Page[RelationFacts]:
        """The relations ordered by id, with counts, and examples of those that are shown.

        The far ends of near relations are read while those through mediators are counted.
        """
        tally = await self._tallies.near(anchors, direction, far_ends)
        near = sorted(tally.paths(), key=self._id)[:limit]
        if hops == 1:
            ends = await self._examples.of(tally, direction, far_ends, near, examples)
        else:
            ends, mediated = await gathered(
                self._examples.of(tally, direction, far_ends, near, examples),
                self._tallies.through(anchors, direction, far_ends),
            )
            tally |= mediated
        counts = tally.paths()
        ordered = sorted(counts, key=self._id)
        shown = ordered[:limit]
        side = 0 if direction is Direction.OUTGOING else 1
        to_mediators = {(path[side],) for path in counts if len(path) == 2}
        ends |= _mediators(tally, side, examples)
        missing = [path for path in shown if path not in ends.found]
        ends |= await self._examples.of(tally, direction, far_ends, missing, examples)
        relations, labels = await gathered(
            self._names.relations(relation for path in shown for relation in path),
            self._names.labels(term for path in shown for term in ends.found.get(path, ())),
        )
        return Page(
            items=tuple(
                RelationFacts(
                    relation=path_relation(path, relations),
                    direction=direction,
                    count=tally.count(counts[path]),
                    hops=tuple(relations[relation] for relation in path),
                    examples=tuple(self._names.node(term, labels) for term in ends.found.get(path, ())),
                    mediators=path in to_mediators,
                    per_entity={
                        self._store.ids.short(anchor): rows[path] for anchor, rows in tally.rows.items() if path in rows
                    },
                )
                for path in shown
            ),
            positions=tuple(map(self._id, shown)),
            total=tally.count(len(ordered)),
            stop=worst((tally.stop, ends.stop, Stop.LIMIT if len(ordered) > limit else Stop.COMPLETE)),
        )

    def _id(self, path: Path) -> str:
        return path_id(self._store, path)


def _mediators(tally: Tally, side: int, wanted: int) -> Ends:
    """Mediators as the far ends of the relations that lead to them, where as many as wanted are known."""
    found: dict[Path, dict[Term, None]] = defaultdict(dict)
    for path, mediators in sorted(tally.mediators.items()):
        found[(path[side],)] |= dict.fromkeys(mediators)
    return Ends({path: list(known)[:wanted] for path, known in found.items() if len(known) >= wanted})


def path_id(store: Store, path: Path) -> str:
    """The id of a relation of one hop, or of two: `rel1.rel2`."""
    return ".".join(store.ids.short(relation) for relation in path)


def path_relation(path: Path, relations: dict[URIRef, Relation]) -> Relation:
    """A relation of one hop, or of two, with its name."""
    hops = [relations[relation] for relation in path]
    return hops[0] if len(hops) == 1 else Relation(".".join(hop.id for hop in hops), " / ".join(h.label for h in hops))
