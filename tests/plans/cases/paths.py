"""Paths."""

from __future__ import annotations

from kgnav_mcp.plan import PathKind, PathPattern, Plan
from tests.plans.short import both, cmp, edge, give, hops, matching, node, of, plan

KNOWS = edge("a-r->b", "KNOWS")
IDS = {"a": ".a.id", "b": ".b.id"}
SHORTEST, REACHABLE = PathKind.SHORTEST, PathKind.REACHABLE

CASES: tuple[tuple[str, Plan], ...] = (
    (
        "MATCH (a {id: 'ada'})-[r:KNOWS*1..3]->(b) RETURN b.id, r",
        plan(
            matching(edge("a-r->b", "KNOWS", path=hops(1, 3)), where=cmp(".a.id", "=", "ada")),
            give({"b": ".b.id", "r": ".r"}),
        ),
    ),
    (
        "MATCH (a)-[r*0..1]->(b) RETURN a.id, b.id, r",
        plan(matching(edge("a-r->b", path=hops(0, 1))), give({**IDS, "r": ".r"})),
    ),
    (
        "MATCH (a)-[r*2]-(b) RETURN a.id, b.id, r",
        plan(matching(edge("a-r-b", path=hops(2, 2))), give({**IDS, "r": ".r"})),
    ),
    ("MATCH (a)-[r*3..4]-(b) RETURN a.id, b.id", plan(matching(edge("a-r-b", path=hops(3, 4))), give(IDS))),
    (
        "MATCH (a)-[r:KNOWS*]->(b) RETURN a.id, size(r)",
        plan(matching(edge("a-r->b", "KNOWS", path=hops())), give({"a": ".a.id", "size": of("size", ".r")})),
    ),
    (
        "MATCH p = (a {id: 'cyd'})-[r:KNOWS*1..2]->(b)-[l:LIVES_IN]->(c) "
        "RETURN p, length(p), nodes(p), relationships(p)",
        plan(
            matching(
                edge("a-r->b", "KNOWS", path=hops(1, 2)),
                edge("b-l->c", "LIVES_IN"),
                PathPattern("p", ("a", "r", "b", "l", "c")),
                where=cmp(".a.id", "=", "cyd"),
            ),
            give(
                {
                    "p": ".p",
                    "length": of("length", ".p"),
                    "nodes": of("nodes", ".p"),
                    "edges": of("relationships", ".p"),
                }
            ),
        ),
    ),
    (
        "MATCH p = (a {id: 'ada'})-[r:KNOWS*1..3]->(b) WHERE length(p) = 2 RETURN b.id",
        plan(
            matching(
                edge("a-r->b", "KNOWS", path=hops(1, 3)),
                PathPattern("p", ("a", "r", "b")),
                where=both(cmp(".a.id", "=", "ada"), cmp(of("length", ".p"), "=", 2)),
            ),
            give({"b": ".b.id"}),
        ),
    ),
    (
        "MATCH (a)-[r:KNOWS*1..2]->(b)-[s:KNOWS]->(c) RETURN a.id, b.id, c.id",
        plan(matching(edge("a-r->b", "KNOWS", path=hops(1, 2)), edge("b-s->c", "KNOWS")), give({**IDS, "c": ".c.id"})),
    ),
    (
        "MATCH (a)-[:KNOWS*]->(b) RETURN DISTINCT a, b",
        plan(matching(edge("a-r->b", "KNOWS", path=hops(kind=REACHABLE))), give({"a": ".a", "b": ".b"}, distinct=True)),
    ),
    (
        "MATCH (a)-[:KNOWS*]-(b) RETURN DISTINCT a, b",
        plan(matching(edge("a-r-b", "KNOWS", path=hops(kind=REACHABLE))), give({"a": ".a", "b": ".b"}, distinct=True)),
    ),
    (
        "MATCH (a)-[*0..]->(b) RETURN DISTINCT a, b",
        plan(matching(edge("a-r->b", path=hops(0, kind=REACHABLE))), give({"a": ".a", "b": ".b"}, distinct=True)),
    ),
    (
        "MATCH (a:Person), (b:City) MATCH p = shortestPath((a)-[*]->(b)) RETURN a.id, b.id, length(p)",
        plan(
            matching(node("a", "Person"), node("b", "City")),
            matching(edge("a-r->b", path=hops(kind=SHORTEST)), PathPattern("p", ("a", "r", "b"))),
            give({**IDS, "length": of("length", ".p")}),
        ),
    ),
    (
        "MATCH (a:Person), (b:City) MATCH p = allShortestPaths((a)-[*]-(b)) RETURN a.id, b.id, p",
        plan(
            matching(node("a", "Person"), node("b", "City")),
            matching(edge("a-r-b", path=hops(kind=PathKind.ALL_SHORTEST)), PathPattern("p", ("a", "r", "b"))),
            give({**IDS, "p": ".p"}),
        ),
    ),
    (
        "MATCH (a:Person), (b) WHERE a <> b MATCH p = shortestPath((a)-[*..4]-(b)) WITH a, b, p "
        "WHERE length(p) IN [2, 3] RETURN a.id, b.id",
        plan(
            matching(node("a", "Person"), node("b"), where=cmp(".a", "<>", ".b")),
            matching(edge("a-r-b", path=hops(2, 3, PathKind.DISTANCE))),
            give(IDS),
        ),
    ),
    (
        "MATCH (a {id: 'ada'})-[r:KNOWS]->(b {id: 'ben'}), p = shortestPath((a)-[:KNOWS*]->(b)) RETURN r, length(p)",
        plan(
            matching(
                KNOWS,
                edge("a-s->b", "KNOWS", path=hops(kind=SHORTEST)),
                PathPattern("p", ("a", "s", "b")),
                where=both(cmp(".a.id", "=", "ada"), cmp(".b.id", "=", "ben")),
            ),
            give({"r": ".r", "length": of("length", ".p")}),
        ),
    ),
)
