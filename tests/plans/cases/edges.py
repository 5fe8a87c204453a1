"""Edges, whether they must be there or not, and patterns in conditions."""

from __future__ import annotations

from kgnav_mcp.plan import CountOf, Exists, HasLabel, Plan
from tests.plans.short import both, cmp, edge, give, matching, no, node, of, plan

PERSON = node("n", "Person")
KNOWS = edge("a-r->b", "KNOWS")
LIVES = edge("a-l->c", "LIVES_IN")
IDS = {"a": ".a.id", "b": ".b.id"}

CASES: tuple[tuple[str, Plan], ...] = (
    ("MATCH (a)-[r:KNOWS]->(b) RETURN a.id, b.id", plan(matching(KNOWS), give(IDS))),
    ("MATCH (a)-[r:KNOWS]-(b) RETURN a.id, b.id", plan(matching(edge("a-r-b", "KNOWS")), give(IDS))),
    (
        "MATCH (a)-[r]->(b) RETURN r, type(r), startNode(r), endNode(r)",
        plan(
            matching("a-r->b"),
            give({"r": ".r", "t": of("type", ".r"), "s": of("startNode", ".r"), "e": of("endNode", ".r")}),
        ),
    ),
    (
        "MATCH (a)-[r:KNOWS|DISLIKES]->(b) RETURN DISTINCT a, b",
        plan(matching(edge("a-r->b", "KNOWS", "DISLIKES")), give({"a": ".a", "b": ".b"}, distinct=True)),
    ),
    (
        "MATCH (a)-[r:KNOWS]->(b) WHERE r.since < 1836 RETURN a.id, b.id",
        plan(matching(KNOWS, where=cmp(".r.since", "<", 1836)), give(IDS)),
    ),
    (
        "MATCH (a)-[r]->(b) WHERE r:KNOWS AND NOT r.how = 'work' RETURN r",
        plan(
            matching("a-r->b", where=both(HasLabel("r", ("KNOWS",)), no(cmp(".r.how", "=", "work")))), give({"r": ".r"})
        ),
    ),
    (
        "MATCH (a)-[r:KNOWS]->(b)-[s:KNOWS]->(c) RETURN a.id, b.id, c.id",
        plan(matching(KNOWS, edge("b-s->c", "KNOWS")), give({**IDS, "c": ".c.id"})),
    ),
    (
        "MATCH (a)-[r:KNOWS]-(b)-[s:KNOWS]-(c) RETURN a.id, b.id, c.id",
        plan(matching(edge("a-r-b", "KNOWS"), edge("b-s-c", "KNOWS")), give({**IDS, "c": ".c.id"})),
    ),
    (
        "MATCH (a)-[r:KNOWS]->(b) MATCH (c)-[s:KNOWS]->(b) RETURN a.id, b.id, c.id",
        plan(matching(KNOWS), matching(edge("c-s->b", "KNOWS")), give({**IDS, "c": ".c.id"})),
    ),
    ("MATCH (a)-[r]->(a) RETURN a, r", plan(matching("a-r->a"), give({"a": ".a", "r": ".r"}))),
    ("MATCH (a)-[r]-(a) RETURN a, r", plan(matching("a-r-a"), give({"a": ".a", "r": ".r"}))),
    ("MATCH (a:City), (b:City) RETURN a.id, b.id", plan(matching(node("a", "City"), node("b", "City")), give(IDS))),
    (
        "MATCH (a:City), (b:City) WHERE a <> b RETURN a, b",
        plan(matching(node("a", "City"), node("b", "City"), where=cmp(".a", "<>", ".b")), give({"a": ".a", "b": ".b"})),
    ),
    (
        "MATCH (a)-[r:KNOWS]->(b) MATCH (a)-[r]->(c) RETURN a.id, c.id",
        plan(matching(KNOWS), matching("a-r->c"), give({"a": ".a.id", "c": ".c.id"})),
    ),
    (
        "MATCH (a)-[l:LIVES_IN]->(c)<-[m:LIVES_IN]-(b) RETURN a.id, b.id, c.id",
        plan(matching(LIVES, edge("b-m->c", "LIVES_IN")), give({**IDS, "c": ".c.id"})),
    ),
    (
        "MATCH (n:Person) OPTIONAL MATCH (n)-[l:LIVES_IN]->(c) RETURN n.id, l, c.name",
        plan(
            matching(PERSON),
            matching(edge("n-l->c", "LIVES_IN"), optional=True),
            give({"n": ".n.id", "l": ".l", "c": ".c.name"}),
        ),
    ),
    (
        "MATCH (n:Person) OPTIONAL MATCH (n)-[l:LIVES_IN]->(c) WHERE c.size > 1000000 RETURN n.id, c",
        plan(
            matching(PERSON),
            matching(edge("n-l->c", "LIVES_IN"), optional=True, where=cmp(".c.size", ">", 1_000_000)),
            give({"n": ".n.id", "c": ".c"}),
        ),
    ),
    (
        "MATCH (n:Person) OPTIONAL MATCH (n)-[l:LIVES_IN]->(c) MATCH (d)-[m:LIVES_IN]->(c) RETURN n.id, d.id",
        plan(
            matching(PERSON),
            matching(edge("n-l->c", "LIVES_IN"), optional=True),
            matching(edge("d-m->c", "LIVES_IN")),
            give({"n": ".n.id", "d": ".d.id"}),
        ),
    ),
    (
        "OPTIONAL MATCH (n:Nobody) RETURN n, n.age, labels(n), n:Person, EXISTS { (n)-->() }, COUNT { (n)-->() }",
        plan(
            matching(node("n", "Nobody"), optional=True),
            give(
                {
                    "n": ".n",
                    "age": ".n.age",
                    "labels": of("labels", ".n"),
                    "is": HasLabel("n", ("Person",)),
                    "exists": Exists(matching("n-r->m")),
                    "count": CountOf(matching("n-r->m")),
                }
            ),
        ),
    ),
    (
        "MATCH (n:Person) WHERE EXISTS { (n)-[:LIVES_IN]->(:City) } RETURN n.id",
        plan(
            matching(PERSON, where=Exists(matching(edge("n-l->c", "LIVES_IN"), node("c", "City")))),
            give({"n": ".n.id"}),
        ),
    ),
    (
        "MATCH (n:Person) WHERE NOT EXISTS { (n)-[r]-(m) WHERE m.age = 36 } RETURN n.id",
        plan(matching(PERSON, where=no(Exists(matching("n-r-m", where=cmp(".m.age", "=", 36))))), give({"n": ".n.id"})),
    ),
    (
        "MATCH (n) RETURN n.id, COUNT { (n)-[:KNOWS]->() } AS k",
        plan(matching(node("n")), give({"n": ".n.id", "k": CountOf(matching(edge("n-r->m", "KNOWS")))})),
    ),
    (
        "MATCH (a:Person), (b:Person) WHERE NOT (a)-[:KNOWS]-(b) AND a.id < b.id RETURN a.id, b.id",
        plan(
            matching(
                node("a", "Person"),
                node("b", "Person"),
                where=both(no(Exists(matching(edge("a-r-b", "KNOWS")))), cmp(".a.id", "<", ".b.id")),
            ),
            give(IDS),
        ),
    ),
)
