"""Checks that proofs can be trusted: right answers must be connected, and invented ones must get the expected verdict.

What a trail showed is read only from the answers. An independent search here derives the expected verdict from it. An
invented answer that the walk happens to connect to its topic is skipped.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path

from kgnav_bench import report
from kgnav_bench.reach import serving
from kgnav_bench.replay import Caller
from kgnav_bench.runs import Run
from kgnav_bench.tables import Table, parse
from kgnav_bench.trails.walks import Edges, Hop, Walk, connected, gold_edges, gold_questions

OPTIONS = ("--toolsets", "sog,linking,trail")
"""The options of a server that offers the tools used here."""
HUB_ROWS = 1_000
"""A node with more rows in one direction is a hub: the server's own setting, p."""

CONNECTED, HUB_ONLY = "connected", "connected only through a hub"
UNCONNECTED, UNGROUNDED = "seen but not connected", "never seen"

_LONG = 50
"""With more rows of one relation at a node, the wanted row is searched by name."""
_SHOWN_FAILURES = 10


class WalkedTrail:
    """A trail on a server, and what its calls showed."""

    def __init__(self, client: Caller, topic: str) -> None:
        self._client = client
        self.topic = topic
        answer = client.call("start_trail", {"question": f"What about {topic}?", "topic_entities": [topic]})
        self._handle = answer.partition("\n")[0].removeprefix("trail: ")
        self.seen = {topic}
        self.edges: dict[str, set[str]] = defaultdict(set)

    def follow(self, hop: Hop, rows: int) -> None:
        """Show the rows of a hop's relation at its start. `rows` is their number."""
        arguments: dict[str, object] = {
            "entity": hop.start,
            "direction": hop.direction,
            "properties_to_filter_for": [hop.relation],
            **({"match": hop.end} if rows > _LONG else {}),
        }
        for far in self._call("search", arguments).column("value"):
            self.seen |= {hop.start, far}
            self.edges[hop.start].add(far)
            self.edges[far].add(hop.start)

    def find(self, hint: str) -> None:
        """Show the entities that a name may mean."""
        self.seen |= set(self._call("find_node", {"hint": hint}).column("entity"))

    def verdict(self, answer: str) -> str:
        """The server's verdict on an answer."""
        return self._call("check_answer", {"answers": [answer]}).column("verdict")[0]

    def expected(self, answer: str, hubs: set[str]) -> str:
        """The expected verdict, by what was shown."""
        if answer not in self.seen:
            return UNGROUNDED
        if connected(self.topic, answer, self.edges, hubs):
            return CONNECTED
        return HUB_ONLY if connected(self.topic, answer, self.edges) else UNCONNECTED

    def _call(self, tool: str, arguments: dict[str, object]) -> Table:
        return parse(self._client.call(tool, {**arguments, "trail": self._handle}))


@dataclass(slots=True)
class Finding:
    """The results for one kind of answers: their number by verdict, and the wrong ones."""

    kind: str
    verdict: str
    called: Counter[str] = field(default_factory=Counter[str])
    wrong: list[str] = field(default_factory=list[str])

    @property
    def right(self) -> bool:
        """Whether every verdict is right."""
        return bool(self.called) and not self.wrong


@dataclass(frozen=True, slots=True)
class Called:
    """The server's verdict on an answer, empty if the walk was skipped, and what is wrong with the verdict."""

    verdict: str
    wrong: str


Maker = Callable[[Walk], tuple[WalkedTrail, str]]
"""Makes a trail and an answer to check, given a walk."""


class Proofs:
    """Checks proofs over one client on a graph."""

    def __init__(self, record: Run, client: Caller, edges: Edges, chance: random.Random) -> None:
        """`chance` draws the walks through hubs: in the same order whichever items are finished."""
        self._record = record
        self._client = client
        self._edges = edges
        self._chance = chance

    def right(self, walks: Iterator[Walk], count: int) -> Finding:
        """Check answers at the ends of real walks."""
        return self._check(
            "right, by the walk to it", CONNECTED, walks, count, lambda walk: (self._walked(walk), walk[-1].end)
        )

    def made_up(self, walks: Iterator[Walk], count: int) -> list[Finding]:
        """Check invented answers of each kind, `count` of all kinds together."""
        hubs = bool(self._edges.hubs)
        share, more = divmod(count, 3 + hubs)
        through = self._edges.through_hubs(self._chance)
        found = [
            self._check("wrong entity, by the walk to another", UNGROUNDED, walks, share + more, self._wrong_entity),
            self._check("right entity, by a wrong way", UNCONNECTED, walks, share, self._wrong_way),
            self._check("right way, in another trail", UNGROUNDED, walks, share, self._other_trail),
        ]
        if hubs:
            kind = "right entity, through a hub"
            found.append(self._check(kind, HUB_ONLY, through, share, lambda walk: (self._walked(walk), walk[-1].end)))
        return found

    def _check(self, kind: str, verdict: str, walks: Iterator[Walk], count: int, make: Maker) -> Finding:
        finding = Finding(kind, verdict)
        with self._record.items(kind, Called, count) as items:
            for number, walk in enumerate(walks):
                if finding.called.total() == count:
                    break
                called = items.value(str(number), partial(self._called, verdict, walk, make))
                if called.verdict:
                    finding.called[called.verdict] += 1
                if called.wrong:
                    finding.wrong.append(called.wrong)
        if finding.called.total() < count:
            finding.wrong.append(f"only {finding.called.total():,} walks could be made")
        return finding

    def _called(self, verdict: str, walk: Walk, make: Maker) -> Called:
        trail, answer = make(walk)
        if trail.expected(answer, self._edges.hubs) != verdict:
            return Called("", f"{answer!r} was not shown by {walk}" if verdict == CONNECTED else "")
        called = trail.verdict(answer)
        return Called(called, f"{answer!r} is called {called!r} after {walk}" if called != verdict else "")

    def _walked(self, walk: Sequence[Hop], topic: str | None = None) -> WalkedTrail:
        trail = WalkedTrail(self._client, topic or walk[0].start)
        for hop in walk:
            alike = [one for one in self._edges.at(hop.start) if one.relation == hop.relation]
            trail.follow(hop, len(alike))
        return trail

    def _wrong_entity(self, walk: Walk) -> tuple[WalkedTrail, str]:
        chance = random.Random(repr(walk))  # noqa: S311 - a choice of samples, not a secret
        return self._walked(walk), chance.choice(self._edges.nodes)

    def _wrong_way(self, walk: Walk) -> tuple[WalkedTrail, str]:
        """The walk without its first hop, or only a look-up of the answer's name."""
        trail = self._walked(walk[1:], walk[0].start)
        if len(walk) == 1:
            trail.find(walk[-1].end)
        return trail, walk[-1].end

    def _other_trail(self, walk: Walk) -> tuple[WalkedTrail, str]:
        """The walk on one trail, and another trail from the same topic that looked only at the topic."""
        self._walked(walk)
        other = WalkedTrail(self._client, walk[0].start)
        other.find(walk[0].start)
        return other, walk[-1].end


def run(record: Run, folder: Path, count: int, seed: int) -> str:
    """Check `count` right answers along gold paths of the film graph, and as many invented ones. Returns the report."""
    chance = random.Random(seed)  # noqa: S311 - a choice of samples, not a secret
    edges = gold_edges(folder, HUB_ROWS)
    walks = edges.gold_walks(gold_questions(folder, chance), chance)
    with serving(folder, None, *OPTIONS) as (client, _):
        proofs = Proofs(record, client, edges, chance)
        findings = [proofs.right(walks, count), *proofs.made_up(walks, count)]
    return summary(findings)


def summary(findings: Sequence[Finding]) -> str:
    """The findings as a table, with the first wrong ones."""
    rows = [
        (one.kind, one.verdict, report.share(one.called[one.verdict], one.called.total()), len(one.wrong))
        for one in findings
    ]
    lines = [report.table(("answer", "what it is", "called so", "wrong"), rows), ""]
    lines += [f"- {one}" for finding in findings for one in islice(finding.wrong, _SHOWN_FAILURES)]
    right = sum(one.called.total() for one in findings[:1])
    made_up = sum(one.called.total() for one in findings[1:])
    lines.append(report.verdict(findings[0].right, f"{right:,} right answers are connected"))
    lines.append(
        report.verdict(all(one.right for one in findings[1:]), f"{made_up:,} invented answers get the expected verdict")
    )
    return "\n".join(lines)
