"""Aggregates, order, and parts of a table."""

from __future__ import annotations

from kgnav_mcp.plan import Plan
from tests.plans.short import all_of, cmp, edge, give, matching, no, node, null, of, plan, sum_up, union

PERSON = node("n", "Person")
KNOWS = edge("a-r->b", "KNOWS")

CASES: tuple[tuple[str, Plan], ...] = (
    (
        "MATCH (n) RETURN count(*), count(n.age), count(DISTINCT n.age)",
        plan(
            matching(node("n")),
            give(
                {
                    "all": all_of("count"),
                    "ages": all_of("count", ".n.age"),
                    "different": all_of("count", ".n.age", distinct=True),
                }
            ),
        ),
    ),
    (
        "MATCH (n) RETURN sum(n.age), avg(n.age), min(n.age), max(n.age), sum(DISTINCT n.age)",
        plan(
            matching(node("n")),
            give(
                {
                    **{name: all_of(name, ".n.age") for name in ("sum", "avg", "min", "max")},
                    "different": all_of("sum", ".n.age", distinct=True),
                }
            ),
        ),
    ),
    (
        "MATCH (n:Nobody) RETURN count(n), sum(n.age), avg(n.age), min(n.age), collect(n)",
        plan(
            matching(node("n", "Nobody")),
            give(
                {
                    "count": all_of("count", ".n"),
                    **{name: all_of(name, ".n.age") for name in ("sum", "avg", "min")},
                    "collect": all_of("collect", ".n"),
                }
            ),
        ),
    ),
    (
        "MATCH (n:Nobody) RETURN n.age, count(n)",
        plan(matching(node("n", "Nobody")), give({"age": ".n.age", "count": all_of("count", ".n")})),
    ),
    (
        "MATCH (n) RETURN n.age, count(*) AS c ORDER BY c DESC, n.age",
        plan(matching(node("n")), give({"age": ".n.age", "c": all_of("count")}, "-.c", ".age")),
    ),
    (
        "MATCH (a)-[r]->(b) RETURN a, type(r) AS t, count(r) AS c, count(DISTINCT b) AS d",
        plan(
            matching("a-r->b"),
            give(
                {
                    "a": ".a",
                    "t": of("type", ".r"),
                    "c": all_of("count", ".r"),
                    "d": all_of("count", ".b", distinct=True),
                }
            ),
        ),
    ),
    (
        "MATCH (n:Person) WITH n ORDER BY n.name DESC RETURN collect(n.id) AS ids",
        plan(matching(PERSON), give({"n": ".n"}, "-.n.name"), give({"ids": all_of("collect", ".n.id")})),
    ),
    (
        "MATCH (n:Person) WITH n ORDER BY n.name DESC RETURN collect(DISTINCT n.age) AS ages",
        plan(
            matching(PERSON), give({"n": ".n"}, "-.n.name"), give({"ages": all_of("collect", ".n.age", distinct=True)})
        ),
    ),
    (
        "MATCH (n:Person) RETURN count(n) * 2 + 1 AS c, 1.0 * sum(n.age) / count(n.age) AS mean",
        plan(
            matching(PERSON),
            give(
                {
                    "c": sum_up(sum_up(all_of("count", ".n"), "*", 2), "+", 1),
                    "mean": sum_up(sum_up(1.0, "*", all_of("sum", ".n.age")), "/", all_of("count", ".n.age")),
                }
            ),
        ),
    ),
    (
        "MATCH (a)-[r:KNOWS]->(b) WITH a, count(DISTINCT b) AS c WHERE c > 1 RETURN a.id, c",
        plan(
            matching(KNOWS),
            give({"a": ".a", "c": all_of("count", ".b", distinct=True)}, where=cmp(".c", ">", 1)),
            give({"a": ".a.id", "c": ".c"}),
        ),
    ),
    (
        "MATCH (n) WITH max(n.age) AS oldest MATCH (m) WHERE m.age = oldest RETURN m",
        plan(
            matching(node("n")),
            give({"oldest": all_of("max", ".n.age")}),
            matching(node("m"), where=cmp(".m.age", "=", ".oldest")),
            give({"m": ".m"}),
        ),
    ),
    (
        "MATCH (n) RETURN n.id ORDER BY n.age DESC, n.id SKIP 1 LIMIT 4",
        plan(matching(node("n")), give({"id": ".n.id"}, "-.n.age", ".n.id", skip=1, limit=4)),
    ),
    (
        "MATCH (n) WHERE n.name IS NOT NULL RETURN n.name ORDER BY n.name",
        plan(matching(node("n"), where=no(null(".n.name"))), give({"name": ".n.name"}, ".name")),
    ),
    (
        "MATCH (n) WITH n.id AS id WHERE n.age = 36 RETURN id",
        plan(matching(node("n")), give({"id": ".n.id"}, where=cmp(".n.age", "=", 36)), give({"id": ".id"})),
    ),
    (
        "MATCH (a)-[r:KNOWS]->(b) WITH a WHERE b.age = 36 RETURN a.id",
        plan(matching(edge("a-r->b", "KNOWS")), give({"a": ".a"}, where=cmp(".b.age", "=", 36)), give({"id": ".a.id"})),
    ),
    (
        "MATCH (a)-[r:KNOWS]->(b) WITH a ORDER BY r.since DESC, a.id, b.id LIMIT 2 WHERE b.age > 30 RETURN a.id",
        plan(
            matching(edge("a-r->b", "KNOWS")),
            give({"a": ".a"}, "-.r.since", ".a.id", ".b.id", limit=2, where=cmp(".b.age", ">", 30)),
            give({"id": ".a.id"}),
        ),
    ),
    (
        "MATCH (n) WITH n ORDER BY n.id LIMIT 3 WHERE n.age > 36 RETURN n",
        plan(matching(node("n")), give({"n": ".n"}, ".n.id", limit=3, where=cmp(".n.age", ">", 36)), give({"n": ".n"})),
    ),
    (
        "MATCH (n:Person) RETURN n UNION MATCH (n:Sailor) RETURN n",
        union(plan(matching(PERSON), give({"n": ".n"})), plan(matching(node("n", "Sailor")), give({"n": ".n"}))),
    ),
    (
        "MATCH (n:Person) RETURN n UNION ALL MATCH (n:Sailor) RETURN n",
        union(
            plan(matching(PERSON), give({"n": ".n"})), plan(matching(node("n", "Sailor")), give({"n": ".n"})), keep=True
        ),
    ),
)
