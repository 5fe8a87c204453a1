"""Lists, functions and arithmetic."""

from __future__ import annotations

from kgnav_mcp.plan import Case, Plan, Unwind
from tests.plans.short import all_of, cmp, edge, give, matching, node, of, plan, sum_up, x

PERSON = node("n", "Person")

CASES: tuple[tuple[str, Plan], ...] = (
    (
        "UNWIND [3, null, 'a', 1.5, true, 'B'] AS v RETURN v ORDER BY v",
        plan(Unwind(of("coalesce", (3, None, "a", 1.5, True, "B")), "v"), give({"v": ".v"}, ".v")),
    ),
    (
        "UNWIND [1, 1.0, 2] AS v RETURN DISTINCT v",
        plan(Unwind(of("coalesce", (1, 1.0, 2)), "v"), give({"v": ".v"}, distinct=True)),
    ),
    (
        "MATCH (n:Writer) UNWIND n.tag AS t RETURN n.id, t",
        plan(matching(node("n", "Writer")), Unwind(of("coalesce", ".n.tag"), "t"), give({"n": ".n.id", "t": ".t"})),
    ),
    (
        "MATCH (n:Person) RETURN CASE WHEN n.age > 40 THEN 'old' WHEN n.age > 20 THEN n.height END AS k, "
        "count(*) AS c ORDER BY k",
        plan(
            matching(PERSON),
            give(
                {
                    "k": Case(((cmp(".n.age", ">", 40), x("old")), (cmp(".n.age", ">", 20), x(".n.height")))),
                    "c": all_of("count"),
                },
                ".k",
            ),
        ),
    ),
    (
        "MATCH (a)-[r:KNOWS]->(b) RETURN CASE r.how WHEN 'work' THEN 1 ELSE r.since END AS k, count(*) AS c",
        plan(
            matching(edge("a-r->b", "KNOWS")),
            give({"k": Case(((cmp(".r.how", "=", "work"), x(1)),), x(".r.since")), "c": all_of("count")}),
        ),
    ),
    ("UNWIND null AS v RETURN v", plan(Unwind(of("coalesce", None), "v"), give({"v": ".v"}))),
    (
        "MATCH (n:Person) WITH collect(n) AS whole UNWIND whole AS m RETURN m.id, size(whole)",
        plan(
            matching(PERSON),
            give({"whole": all_of("collect", ".n")}),
            Unwind(of("coalesce", ".whole"), "m"),
            give({"m": ".m.id", "size": of("size", ".whole")}),
        ),
    ),
    (
        "RETURN 7 / -2, -7 % 3, 2 ^ 3, 1 / 2.0, 'a' + 1, 'a' + 1.5, 1 + 2.5, 3 - 5, 2 * 2.5, 1 + null, [1] + 2, -7 / 2",
        plan(
            give(
                {
                    f"c{place}": sum_up(*parts)
                    for place, parts in enumerate(
                        (
                            (7, "/", -2),
                            (-7, "%", 3),
                            (2, "^", 3),
                            (1, "/", 2.0),
                            ("a", "+", 1),
                            ("a", "+", 1.5),
                            (1, "+", 2.5),
                            (3, "-", 5),
                            (2, "*", 2.5),
                            (1, "+", None),
                            ((1,), "+", 2),
                            (-7, "/", 2),
                        )
                    )
                }
            )
        ),
    ),
    (
        "RETURN round(0.5), round(-1.5), round(2.4), floor(-1.5), ceil(1.2), abs(-3), toString(1.0), toString(1e10), "
        "toString(true), toInteger('3.7'), toInteger(-3.7), toFloat('abc'), toFloat('1e3'), toLower('ÀÉ'), "
        "size('abc'), head([]), last([1, null, 2]), head([3]), toString(12345678.5), toUpper('a'), toInteger('x'), "
        "toString('s'), toInteger(true)",
        plan(
            give(
                {
                    f"c{place}": of(*parts)
                    for place, parts in enumerate(
                        (
                            ("round", 0.5),
                            ("round", -1.5),
                            ("round", 2.4),
                            ("floor", -1.5),
                            ("ceil", 1.2),
                            ("abs", -3),
                            ("toString", 1.0),
                            ("toString", 1e10),
                            ("toString", True),
                            ("toInteger", "3.7"),
                            ("toInteger", -3.7),
                            ("toFloat", "abc"),
                            ("toFloat", "1e3"),
                            ("toLower", "ÀÉ"),
                            ("size", "abc"),
                            ("head", ()),
                            ("last", (1, None, 2)),
                            ("head", (3,)),
                            ("toString", 12345678.5),
                            ("toUpper", "a"),
                            ("toInteger", "x"),
                            ("toString", "s"),
                            ("toInteger", True),
                        )
                    )
                }
            )
        ),
    ),
    (
        "RETURN 1 = 'a', 1 <> 'a', 1 < 'a', 1 = 1.0, true < false, [1, null] = [1, 2], [1] = [1.0], [1, 2] = 1, "
        "null = null, null IN [], 1 IN [null], 'a' IN ['a', null], 'a' < 'B', 'é' > 'z', 5 CONTAINS '5', null <> 1, "
        "[1] < [1, 2], [1, null] < [1, 2], [1, 'a'] < [1, 2], [2, null] < [1, 2], [1] <= [1], [1] >= [1, null]",
        plan(
            give(
                {
                    f"c{place}": cmp(*parts)
                    for place, parts in enumerate(
                        (
                            (1, "=", "a"),
                            (1, "<>", "a"),
                            (1, "<", "a"),
                            (1, "=", 1.0),
                            (True, "<", False),
                            ((1, None), "=", (1, 2)),
                            ((1,), "=", (1.0,)),
                            ((1, 2), "=", 1),
                            (None, "=", None),
                            (None, "IN", ()),
                            (1, "IN", (None,)),
                            ("a", "IN", ("a", None)),
                            ("a", "<", "B"),
                            ("é", ">", "z"),
                            (5, "CONTAINS", "5"),
                            (None, "<>", 1),
                            ((1,), "<", (1, 2)),
                            ((1, None), "<", (1, 2)),
                            ((1, "a"), "<", (1, 2)),
                            ((2, None), "<", (1, 2)),
                            ((1,), "<=", (1,)),
                            ((1,), ">=", (1, None)),
                        )
                    )
                }
            )
        ),
    ),
    (
        "MATCH (n) RETURN coalesce(n.age, n.size, n.id), labels(n) AS l ORDER BY size(l), n.id",
        plan(
            matching(node("n")),
            give({"v": of("coalesce", ".n.age", ".n.size", ".n.id"), "l": of("labels", ".n")}),
        ),
    ),
)
