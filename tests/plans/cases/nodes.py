"""Nodes, and conditions on them."""

from __future__ import annotations

from kgnav_mcp.plan import Connective, HasLabel, Joined, Plan
from tests.plans.short import both, cmp, either, give, matching, no, node, null, plan

CASES: tuple[tuple[str, Plan], ...] = (
    ("MATCH (n) RETURN n", plan(matching(node("n")), give({"n": ".n"}))),
    (
        "MATCH (n:Person) RETURN n.id, n.age",
        plan(matching(node("n", "Person")), give({"id": ".n.id", "age": ".n.age"})),
    ),
    ("MATCH (n:Person:Sailor) RETURN n", plan(matching(node("n", "Person", "Sailor")), give({"n": ".n"}))),
    ("MATCH (n:City|Sailor) RETURN n", plan(matching(node("n", "City|Sailor")), give({"n": ".n"}))),
    ("MATCH (n) WHERE n.age = 36 RETURN n", plan(matching(node("n"), where=cmp(".n.age", "=", 36)), give({"n": ".n"}))),
    (
        "MATCH (n) WHERE n.age = 36.0 RETURN n",
        plan(matching(node("n"), where=cmp(".n.age", "=", 36.0)), give({"n": ".n"})),
    ),
    (
        "MATCH (n) WHERE n.age <> 36 RETURN n",
        plan(matching(node("n"), where=cmp(".n.age", "<>", 36)), give({"n": ".n"})),
    ),
    (
        "MATCH (n) WHERE NOT n.age = 36 RETURN n",
        plan(matching(node("n"), where=no(cmp(".n.age", "=", 36))), give({"n": ".n"})),
    ),
    (
        "MATCH (n) WHERE n.age <> 'x' RETURN n",
        plan(matching(node("n"), where=cmp(".n.age", "<>", "x")), give({"n": ".n"})),
    ),
    (
        "MATCH (n) WHERE n.age < '9' RETURN n",
        plan(matching(node("n"), where=cmp(".n.age", "<", "9")), give({"n": ".n"})),
    ),
    (
        "MATCH (n) WHERE n.age < 37 AND n.height > 1.6 RETURN n",
        plan(matching(node("n"), where=both(cmp(".n.age", "<", 37), cmp(".n.height", ">", 1.6))), give({"n": ".n"})),
    ),
    (
        "MATCH (n) WHERE n.age > 40 OR n.height <= 1.5 RETURN n",
        plan(matching(node("n"), where=either(cmp(".n.age", ">", 40), cmp(".n.height", "<=", 1.5))), give({"n": ".n"})),
    ),
    (
        "MATCH (n) WHERE n.age >= 36 XOR n.height > 1.6 RETURN n",
        plan(
            matching(node("n"), where=Joined(Connective.XOR, (cmp(".n.age", ">=", 36), cmp(".n.height", ">", 1.6)))),
            give({"n": ".n"}),
        ),
    ),
    ("MATCH (n) WHERE n.age IS NULL RETURN n", plan(matching(node("n"), where=null(".n.age")), give({"n": ".n"}))),
    (
        "MATCH (n) WHERE n.name IS NOT NULL RETURN n.name",
        plan(matching(node("n"), where=no(null(".n.name"))), give({"n": ".n.name"})),
    ),
    ("MATCH (n) WHERE n.alive RETURN n", plan(matching(node("n"), where=".n.alive"), give({"n": ".n"}))),
    ("MATCH (n) WHERE NOT n.alive RETURN n", plan(matching(node("n"), where=no(".n.alive")), give({"n": ".n"}))),
    (
        "MATCH (n) WHERE n.alive < true RETURN n",
        plan(matching(node("n"), where=cmp(".n.alive", "<", True)), give({"n": ".n"})),
    ),
    (
        "MATCH (n) WHERE n.name CONTAINS '| cat\\' \"' RETURN n",
        plan(matching(node("n"), where=cmp(".n.name", "CONTAINS", "| cat' \"")), give({"n": ".n"})),
    ),
    (
        "MATCH (n) WHERE n.name STARTS WITH 'È' OR n.name ENDS WITH 'o' RETURN n",
        plan(
            matching(node("n"), where=either(cmp(".n.name", "STARTS WITH", "È"), cmp(".n.name", "ENDS WITH", "o"))),
            give({"n": ".n"}),
        ),
    ),
    (
        "MATCH (n) WHERE n.name =~ '[A-C].*' RETURN n",
        plan(matching(node("n"), where=cmp(".n.name", "=~", "[A-C].*")), give({"n": ".n"})),
    ),
    (
        "MATCH (n) WHERE n.age CONTAINS '3' RETURN n",
        plan(matching(node("n"), where=cmp(".n.age", "CONTAINS", "3")), give({"n": ".n"})),
    ),
    (
        "MATCH (n) WHERE n.age IN [41, 'x', -3] RETURN n",
        plan(matching(node("n"), where=cmp(".n.age", "IN", (41, "x", -3))), give({"n": ".n"})),
    ),
    (
        "MATCH (n) WHERE NOT n.age IN [41, null] RETURN n",
        plan(matching(node("n"), where=no(cmp(".n.age", "IN", (41, None)))), give({"n": ".n"})),
    ),
    (
        "MATCH (n:Writer) WHERE 'night' IN n.tag RETURN n.tag",
        plan(matching(node("n", "Writer"), where=cmp("night", "IN", ".n.tag")), give({"n": ".n.tag"})),
    ),
    (
        "MATCH (n) WHERE n:Writer OR n:City RETURN n",
        plan(matching(node("n"), where=HasLabel("n", ("Writer", "City"))), give({"n": ".n"})),
    ),
)
