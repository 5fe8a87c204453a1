"""What of a trail a picture shows: the walk first, then what ties nodes together, then the others in turn."""

from __future__ import annotations

from kgnav_mcp.model import Entity, Literal, Node, Relation, Role, Subgraph, Trail, TrailStep, Triple
from kgnav_mcp.navigation.shown_graph import CHECK_TOOL, walked_subgraph


def triple(head: str, tail: str | Literal, relation: str = "knows") -> Triple:
    return Triple(Entity(head), Relation(relation, relation), Entity(tail) if isinstance(tail, str) else tail)


def walk(*steps: TrailStep, topics: tuple[str, ...] = ("ada",)) -> Trail:
    return Trail("people", "Who knows whom?", tuple(map(Entity, topics)), 0.0, steps)


def step(*triples: Triple, visited: tuple[str, ...] = (), seen: tuple[str, ...] = ()) -> TrailStep:
    return TrailStep("search", {}, 0.0, visited=visited, entities=tuple(map(Entity, seen)), triples=triples)


def check(answer: str, *proof: Triple) -> TrailStep:
    entities = tuple(Entity(answer) for one in proof[-1:] if isinstance(one.tail, Entity))
    return TrailStep(CHECK_TOOL, {"answers": [answer]}, 0.0, entities=entities, triples=proof)


def name(node: Node) -> str:
    return node.text if isinstance(node, Literal) else node.id


def roles(found: Subgraph) -> dict[str, Role]:
    return {name(node.node): node.role for node in found.nodes}


def test_topics_answers_and_visited_nodes_are_told_from_those_only_seen() -> None:
    born = triple("bob", Literal("1853"), "born")
    trail = walk(
        step(triple("ada", "bob"), triple("ada", "cy"), visited=("ada",)),
        step(born, triple("bob", "dan"), triple("bob", Literal("red"), "likes"), visited=("bob",)),
        check("dan", triple("ada", "bob"), triple("bob", "dan")),
        check("1853", triple("ada", "bob"), born),
    )
    found = walked_subgraph(trail)
    assert roles(found) == {
        "ada": Role.TOPIC,
        "bob": Role.VISITED,
        "cy": Role.SEEN,
        "1853": Role.ANSWER,
        "dan": Role.ANSWER,
        "red": Role.SEEN,
    }
    proof = [
        (name(found.nodes[edge.head].node), name(found.nodes[edge.tail].node)) for edge in found.edges if edge.proof
    ]
    assert proof == [("ada", "bob"), ("bob", "1853"), ("bob", "dan")]


def test_triples_between_the_same_two_nodes_are_one_edge_in_each_direction() -> None:
    trail = walk(step(triple("ada", "bob"), triple("ada", "bob", "likes"), triple("bob", "ada")))
    assert [len(edge.triples) for edge in walked_subgraph(trail).edges] == [2, 1]


def test_what_was_seen_without_an_edge_is_left_out_and_counted_unless_the_walk_was_about_it() -> None:
    found = walked_subgraph(walk(step(seen=("cy", "dan"), visited=("dan",))))
    assert roles(found) == {"ada": Role.TOPIC, "dan": Role.VISITED}
    assert found.more_nodes == 1


def test_of_too_many_nodes_the_walk_is_kept_and_each_hub_shows_some_neighbours_and_how_many_more() -> None:
    hubs = [triple(hub, f"{hub}{number}") for hub in ("ada", "bob") for number in range(1_000)]
    trail = walk(
        step(*hubs, triple("ada", "both"), triple("bob", "both"), visited=("ada",)),
        step(triple("bob999", Literal("late")), visited=("bob", "bob999")),
        check("late", triple("bob999", Literal("late"))),
    )
    found = walked_subgraph(trail, most_nodes=20, most_edges=15, most_rows=1_000)
    assert {"ada", "bob", "bob999", "late", "both", "ada0", "bob0"} <= set(roles(found))
    assert (len(found.nodes), len(found.edges)) == (20, 15)
    assert found.more_nodes == 2 + 2_000 + 2 - 20
    drawn = {node.node: node.more for node in found.nodes}
    shown = [sum(one.startswith(hub) and one != hub for one in roles(found)) for hub in ("ada", "bob")]
    assert [drawn[Entity("ada")], drawn[Entity("bob")]] == [1_000 - shown[0], 1_000 - shown[1]]
    assert abs(shown[0] - shown[1]) <= 2
    assert found.edges[0].proof


def test_of_a_hub_the_first_rows_are_drawn_and_the_others_counted() -> None:
    rows = [triple("ada", f"a{number}") for number in range(1_208)]
    found = walked_subgraph(walk(step(*rows, triple("a0", "bob"), visited=("ada", "a1207"))))
    assert sorted(roles(found)) == ["a0", "a1", "a1207", "a2", "a3", "a4", "ada", "bob"]
    assert [(node.node, node.more) for node in found.nodes if node.more] == [(Entity("ada"), 1_208 - 6)]
    assert found.more_nodes == 1_208 - 6
    assert len(walked_subgraph(walk(step(*rows, visited=("ada",))), 10_000, 10_000, 10_000).nodes) == 1 + 1_208


def test_a_single_further_row_is_drawn_itself() -> None:
    rows = [triple("ada", f"a{number}") for number in range(6)]
    assert [node.more for node in walked_subgraph(walk(step(*rows))).nodes] == [0] * 7


def test_an_empty_trail_is_its_topics() -> None:
    found = walked_subgraph(walk(topics=("ada", "bob")))
    assert (list(roles(found)), found.edges, found.more_nodes) == (["ada", "bob"], (), 0)


def test_what_is_beside_the_walk_comes_before_a_tangle_far_from_it() -> None:
    tangle = [triple(f"x{one}", f"x{other}") for one in range(10) for other in range(one)]
    trail = walk(step(*tangle, *(triple("ada", f"a{number}") for number in range(9)), visited=("ada",)))
    assert set(roles(walked_subgraph(trail, most_nodes=10, most_rows=9))) == {
        "ada",
        *(f"a{number}" for number in range(9)),
    }
