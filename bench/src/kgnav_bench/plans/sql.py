"""The kinds of questions in hand-written SQL on a graph file's tables. Labels, relations and values are parameters."""

from __future__ import annotations

from typing import Final

_A, _B, _C = (f"(SELECT id FROM label WHERE key = :{name})" for name in ("a", "b", "c"))
_R1, _R2, _PROPERTY, _OTHER = (
    f"(SELECT id FROM relation WHERE key = :{name})" for name in ("r1", "r2", "property", "other")
)
_HAVING = f"""
FROM attribute AS v JOIN node_label AS l ON l.node = v.node AND l.label = {_A} JOIN node AS n ON n.id = v.node
WHERE v.p = {_PROPERTY} AND substr(v.text, 1, 64) = :value
"""
_FROM_NAME = f"""
FROM name AS x JOIN node_label AS la ON la.node = x.node AND la.label = {_A}
JOIN edge AS e ON e.s = x.node AND e.p = {_R1} JOIN node_label AS lb ON lb.node = e.o AND lb.label = {_B}
"""

LOOK_UP: Final = f"SELECT n.label {_HAVING} ORDER BY n.label"
"""Costs an entry of an index for each node with the value, in any class."""
ONE_HOP: Final = f"SELECT n.label {_FROM_NAME} JOIN node AS n ON n.id = e.o WHERE x.text = :name ORDER BY n.label"
"""Costs a seek for each edge."""
TWO_HOPS: Final = f"""
SELECT DISTINCT n.label {_FROM_NAME} JOIN edge AS f ON f.s = e.o AND f.p = {_R2}
JOIN node_label AS lc ON lc.node = f.o AND lc.label = {_C} JOIN node AS n ON n.id = f.o
WHERE x.text = :name ORDER BY n.label
"""
"""Costs a seek for each edge."""
SAME_END: Final = f"""
SELECT DISTINCT n.label {_FROM_NAME} JOIN edge AS f ON f.o = e.o AND f.p = {_R1} AND f.s <> x.node
JOIN node_label AS lc ON lc.node = f.s AND lc.label = {_A} JOIN node AS n ON n.id = f.s
WHERE x.text = :name ORDER BY n.label
"""
"""Costs a seek for each edge."""
TOP_TEN: Final = f"""
SELECT n.label, count(*) AS count FROM node_label AS lb JOIN edge AS e ON e.o = lb.node AND e.p = {_R1}
JOIN node_label AS la ON la.node = e.s AND la.label = {_A} JOIN node AS n ON n.id = lb.node
WHERE lb.label = {_B} GROUP BY lb.node ORDER BY count DESC, n.label LIMIT 10
"""
"""Costs every edge of the relation."""
BY_QUALIFIER: Final = f"""
SELECT a.label, b.label FROM edge AS e JOIN node_label AS la ON la.node = e.s AND la.label = {_A}
JOIN node_label AS lb ON lb.node = e.o AND lb.label = {_B} JOIN node AS a ON a.id = e.s JOIN node AS b ON b.id = e.o
WHERE e.p = {_R1} AND json_extract(e.qualifiers, '$.' || :qualifier || '[0][0]') = :said ORDER BY a.label, b.label
"""
"""Costs every edge of the relation, and its JSON."""
WITHOUT: Final = f"""
SELECT n.label {_HAVING} AND NOT EXISTS (SELECT 1 FROM edge AS e WHERE e.s = v.node AND e.p = {_R1}) ORDER BY n.label
"""
"""Costs a seek for each node with the value."""
WITH_ZEROS: Final = f"""
SELECT n.label, (SELECT count(*) FROM edge AS e WHERE e.s = v.node AND e.p = {_R1}) AS count {_HAVING}
ORDER BY count, n.label
"""
"""Costs a seek for each node with the value."""
THREE_HOPS: Final = f"""
WITH RECURSIVE way (node, length) AS (
    SELECT x.node, 0 FROM name AS x JOIN node_label AS la ON la.node = x.node AND la.label = {_A} WHERE x.text = :name
    UNION SELECT e.o, length + 1 FROM way JOIN edge AS e ON e.s = way.node WHERE length < 3
)
SELECT DISTINCT n.label FROM way JOIN node_label AS lc ON lc.node = way.node AND lc.label = {_C}
JOIN node AS n ON n.id = way.node WHERE length > 0 ORDER BY n.label
"""
"""Costs a seek for each edge on the way."""
SHORTEST: Final = f"""
WITH RECURSIVE way (node, length) AS (
    SELECT x.node, 0 FROM name AS x JOIN node_label AS la ON la.node = x.node AND la.label = {_A} WHERE x.text = :name
    UNION SELECT e.o, length + 1 FROM way JOIN edge AS e ON e.s = way.node AND e.p IN ({_R1}, {_R2}) WHERE length < 4
)
SELECT min(length) FROM way WHERE length > 0 AND node IN (SELECT node FROM name WHERE text = :end)
"""
"""Costs a seek for each edge on the way."""
EITHER: Final = f"""
SELECT n.label {_HAVING} UNION SELECT n.label FROM attribute AS v
JOIN node_label AS l ON l.node = v.node AND l.label = {_B} JOIN node AS n ON n.id = v.node
WHERE v.p = {_OTHER} AND substr(v.text, 1, 64) = :stated ORDER BY 1
"""
"""Costs an entry of an index for each node with one of the values."""
HOW_MANY: Final = f"SELECT count(*) FROM node_label WHERE label = {_A}"
"""Costs an entry of an index for each node of the class."""
