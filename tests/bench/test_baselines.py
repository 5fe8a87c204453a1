"""What the benchmarks compute beside the server agrees with it: tokens, and the rows of direct queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgnav_bench.baselines import separate_tokens
from kgnav_bench.client import BareClient, load, server_command
from kgnav_bench.direct import Store
from kgnav_bench.tables import parse
from kgnav_mcp.render.text import count_tokens

pytestmark = pytest.mark.slow

SOURCE = [(f"n{n}", "knows" if n % 3 else "likes", f"n{(n * 7) % 12}") for n in range(60)]


@given(st.text() | st.text("aZ 09\t\n|é"))
def test_tokens_are_counted_as_the_server_counts_them(text: str):
    assert separate_tokens(text) == count_tokens(text)


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    source, target = tmp_path / "source.tsv", tmp_path / "graph.kg"
    source.write_text("".join("\t".join(triple) + "\n" for triple in SOURCE), encoding="utf-8")
    load([source], target)
    return target


@pytest.fixture
def client(graph: Path) -> Iterator[BareClient]:
    with BareClient(server_command(graph)) as client:
        yield client


def test_the_direct_queries_read_the_rows_that_the_server_shows(graph: Path, client: BareClient):
    with closing(Store(graph)) as store:
        leaves = store.leaves(40, 2, 50)
        assert {leaf.direction for leaf in leaves} == {"incoming"}
        for leaf in leaves:
            heads = [(head, relation) for head, relation, tail in SOURCE if tail == leaf.key]
            tails = [(tail, relation) for head, relation, tail in SOURCE if head == leaf.key]
            of_one = [far for far, relation in heads if relation == leaf.relation_key]
            either = of_one + [far for far, relation in tails if relation == leaf.relation_key]
            asked = {"entity": leaf.key, "direction": leaf.direction}
            filtered = {**asked, "properties_to_filter_for": [leaf.relation_key]}
            triples = {"entity": leaf.key, "relations": [leaf.relation_key]}
            assert store.neighbourhood(leaf) == parse(client.call("search", asked)).total == len(heads)
            assert store.filtered(leaf) == parse(client.call("search", filtered)).total == len(of_one)
            assert store.triples(leaf) == parse(client.call("get_triples", triples)).total == len(either)
            collapsed = store.fetch_all_and_collapse(leaf.key, leaf.direction)
            assert collapsed == Counter(relation for _, relation in heads)
