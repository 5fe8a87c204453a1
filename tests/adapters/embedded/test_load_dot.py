"""DOT is read as Graphviz reads it: defaults, subgraphs, chains and lists of edges, `strict`, escapes in labels.

What is expected here was compared with the nodes, edges and attributes that Graphviz itself finds (`dot -Tdot_json`).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.adapters.embedded.loading.formats import dot
from kgnav_mcp.errors import BadLine, LoadError
from tests.adapters.embedded.loaded import Loaded, loaded, write


def read(folder: Path, text: str, options: LoadOptions | None = None) -> Loaded:
    return loaded(folder, {"g.dot": text}, options)


def attributes(graph: Loaded, node: str) -> dict[str, str]:
    return {name: text for name, text, _, _ in graph.attributes(node)}


def qualified(graph: Loaded) -> list[tuple[str, str, str, dict[str, str]]]:
    return [(s, p, o, _first(qualifiers)) for s, p, o, _, qualifiers in graph.qualified_edges()]


def _first(qualifiers: dict[str, list[list[str]]] | None) -> dict[str, str]:
    return {name: values[0][0] for name, values in (qualifiers or {}).items()}


def test_nodes_have_their_attributes_and_labels_name_nodes_and_relations(tmp_path: Path) -> None:
    graph = read(
        tmp_path,
        """digraph people {
            ada [label="Ada Lovelace", born=1815, height=1.65];
            ada -> london [label="lives in", from=1830];
            ada -> london [type=left, label="by train"]; ada -> byron
        }""",
    )
    names = {key: label for key, (label, _, _) in graph.nodes().items()}
    assert names == {"ada": "Ada Lovelace", "london": "london", "byron": "byron"}
    assert graph.attributes("ada") == [
        ("born", "1815", "integer", None), ("height", "1.65", "float", None), ("label", "Ada Lovelace", None, None),
    ]  # fmt: skip
    assert qualified(graph) == [
        ("ada", "left", "london", {"label": "by train"}),
        ("ada", "lives in", "london", {"from": "1830"}),
        ("ada", "related_to", "byron", {}),
    ]


def test_a_default_is_an_attribute_of_what_follows_it_where_it_stands(tmp_path: Path) -> None:
    graph = read(
        tmp_path,
        """digraph { a; node [shape=box]; edge [label=k]; b -> a
            { node [shape=point, color=red]; edge [label=m]; c -> b; a [x=1] }
            d -> c; d -> a [label=own] }""",
    )
    assert {node: attributes(graph, node) for node in "abcd"} == {
        "a": {"x": "1"}, "b": {"shape": "box"}, "c": {"shape": "point", "color": "red"}, "d": {"shape": "box"},
    }  # fmt: skip
    assert graph.edges() == [("b", "k", "a"), ("c", "m", "b"), ("d", "k", "c"), ("d", "own", "a")]


def test_a_subgraph_that_is_written_again_goes_on_and_has_the_defaults_around_it(tmp_path: Path) -> None:
    graph = read(
        tmp_path,
        """digraph { subgraph s { node [shape=box]; a } node [color=red, shape=oval]; subgraph s { b }
            subgraph t { x } -> subgraph t { y } }""",
    )
    assert attributes(graph, "b") == {"shape": "box", "color": "red", "subgraph": "s"}
    assert [f"{start}{end}" for start, _, end in graph.edges()] == ["xx", "xy", "yx", "yy"]


def test_a_node_names_the_subgraphs_it_is_in_by_their_labels(tmp_path: Path) -> None:
    graph = read(
        tmp_path,
        """digraph { subgraph cluster_0 { label="Outer\\nbox"; subgraph inner { n } m }
            { { rank=same; n; free } } subgraph cluster_0 { late } subgraph cluster_0 { node ["subgraph"=own]; z } }""",
    )
    within = {node: [v for k, v, _, _ in graph.attributes(node) if k == "subgraph"] for node in graph.nodes()}
    assert within == {"n": ["Outer box", "inner"], "m": ["Outer box"], "free": [], "late": ["Outer box"], "z": ["own"]}


def test_edges_join_chains_lists_and_subgraphs(tmp_path: Path) -> None:
    graph = read(tmp_path, "digraph { a -> {b; c} -> d; e, f -> g, h; subgraph s { i -> j } -> k; {l m} [color=red] }")
    pairs = [f"{start}{end}" for start, _, end in graph.edges()]
    assert pairs == sorted(["ab", "ac", "bd", "cd", "eg", "eh", "fg", "fh", "ij", "ik", "jk"])
    assert attributes(graph, "l") == {}


def test_parallel_edges_stay_apart_but_in_a_strict_graph_or_with_the_same_key(tmp_path: Path) -> None:
    graph = read(tmp_path, "digraph { a->b; a->b; a->b [key=1, w=2]; a->b [key=1, v=3]; a->b [key=2] }")
    assert [q for *_, q in qualified(graph)] == [{}, {}, {"key": "1", "w": "2", "v": "3"}, {"key": "2"}]
    graph = read(tmp_path, "STRICT Graph { a -- b [label=x]; b -- a [w=2]; a -- a; a -- a; c }")
    assert qualified(graph) == [("a", "related_to", "a", {}), ("a", "x", "b", {"w": "2"})]
    graph = read(tmp_path, "strict graph { a:p -- b; b:q -- a:r }")
    assert qualified(graph) == [("a", "related_to", "b", {"tailport": "r", "headport": "q"})]
    assert any("all edges are undirected" in note for note in graph.report.notes)
    graph = read(tmp_path, "strict digraph { a -> b; b -> a; a -> b [label=x] }")
    assert graph.edges() == [("a", "x", "b"), ("b", "related_to", "a")]


def test_ids_are_the_same_with_and_without_quotation_marks(tmp_path: Path) -> None:
    graph = read(
        tmp_path,
        """digraph "g" { a -> "b c":p:ne [label="l"]; "a" -> b:q; "long \\
id" -> "on" + "e"; -1.5 -> .5; 007 -> "7"; é -> ü; "say \\"x\\"" -> "node"; <b> -> a }""",
    )
    assert [(start, end) for start, _, end in graph.edges()] == [
        ("-1.5", ".5"), ("007", "7"), ("a", "b c"), ("a", "b"), ("b", "a"), ("long id", "one"), ('say "x"', "node"),
        ("é", "ü"),
    ]  # fmt: skip
    assert {"headport": "p:ne"} in [q for *_, q in qualified(graph)]


def test_labels_are_plain_text(tmp_path: Path) -> None:
    graph = read(
        tmp_path,
        r"""digraph g { node [label="\N!"]; a; b [label="one\ntwo\l"]; c [label="R&amp;D \"x\" \\ \G"]; d [label=""]
            e [label=<<b>bold</b><br/>1 &lt; 2 <i>it</i>alic>]; f [label=7]
            r [shape=record, label="<f0> left|{<f1> a \| b|}|right"]; a -> b [label="\T to \H: \E"] }""",
    )
    assert {key: label for key, (label, _, _) in graph.nodes().items()} == {
        "a": "a!", "b": "one two", "c": 'R&D "x" \\ g', "d": "d", "e": "bold 1 < 2 italic", "f": "7",
        "r": "left | a | b | right",
    }  # fmt: skip
    assert graph.edges() == [("a", "a to b: a->b", "b")]


COMMENTED = '/* made\nby hand */\n// -> x\n# 1 "file"\nstrict\ndigraph\n"a graph"\n{ a -> b // -> c\n# d\n }\n'


@pytest.mark.parametrize("name", ["g.gv", "g.dot.gz", "g.txt"])
def test_dot_is_known_by_its_suffix_or_its_beginning_below_comments(tmp_path: Path, name: str) -> None:
    assert Loaded(tmp_path / "g.kg", load([write(tmp_path, name, COMMENTED)], tmp_path / "g.kg")).edges() == [
        ("a", "related_to", "b")
    ]


def test_a_text_in_latin_1_is_read_and_told(tmp_path: Path) -> None:
    source = write(tmp_path, "g.dot", 'digraph { a [label="Zürich"] -> b }'.replace(" ->", "; a ->").encode("latin-1"))
    graph = Loaded(tmp_path / "g.kg", load([source], tmp_path / "g.kg"))
    assert graph.nodes()["a"][0] == "Zürich"
    assert "g.dot: read as latin-1 (--encoding NAME to change it)" in graph.report.notes


def test_several_graphs_of_a_file_are_one_unless_a_node_differs(tmp_path: Path) -> None:
    assert read(tmp_path, "digraph { a -> b } graph { b -- c }").edges() == [
        ("a", "related_to", "b"), ("b", "related_to", "c"),
    ]  # fmt: skip
    with pytest.raises(BadLine, match="different nodes with the id 'a'"):
        read(tmp_path, "digraph one { a [x=1] }\ndigraph two { a -> b }")


PYDEPS = """
digraph G {
    concentrate = true;

    rankdir = TB;
    node [style=filled,fillcolor="#ffffff",fontcolor="#000000",fontname=Helvetica,fontsize=10];

    app [fillcolor="#a65959",fontcolor="#ffffff"];
    app_core [fillcolor="#c05d5d",label="app.core"];
    app_core -> app [fillcolor="#c05d5d",minlen="2"];
}
"""
NETWORKX = """strict graph "" {
0 [name="Mr Hi", club="Mr. Hi"];
1 [club=Officer];
0 -- 1 [weight=4];
}
"""
LAID_OUT = """digraph G {
	graph [bb="0,0,54,108"];
	node [label="\\N"];
	a	[height=0.5,
		pos="27,90",
		width=0.75];
	b	[pos="27,18"];
	a -> b	[pos="e,27,36.104 27,71.697 27,63.983"];
}
"""


def test_files_as_pydeps_networkx_and_dot_write_them(tmp_path: Path) -> None:
    graph = read(tmp_path, PYDEPS)
    assert attributes(graph, "app_core") == {
        "style": "filled", "fillcolor": "#c05d5d", "fontcolor": "#000000", "fontname": "Helvetica", "fontsize": "10",
        "label": "app.core",
    }  # fmt: skip
    assert qualified(graph) == [("app_core", "related_to", "app", {"fillcolor": "#c05d5d", "minlen": "2"})]
    graph = read(tmp_path, NETWORKX, LoadOptions(relation="met"))
    assert (graph.nodes()["0"][0], graph.nodes()["1"][0]) == ("Mr Hi", "1")
    assert qualified(graph) == [("0", "met", "1", {"weight": "4"})]
    graph = read(tmp_path, LAID_OUT)
    assert graph.nodes()["a"][0] == "a"
    assert attributes(graph, "b") == {"label": "b", "pos": "27,18"}


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("digraph {\n a -> b\n", 2, "not the end; the file may be cut short"),
        ("digraph {\n a -- b }", 2, "edges of a digraph are ->, those of a graph --"),
        ("graph {\n a -> b }", 2, "edges of a digraph are ->, those of a graph --"),
        ("digraph {\n a -> }", 2, "a name is expected, not '}'"),
        ("digraph {\n\n a [b] }", 3, "'=' is expected"),
        ('digraph { a -> b [label="x" "y"] }', 1, "'=' is expected"),
        ("digraph {\n 10a -> b }", 2, "'10a' is not the start of a name: put the name in quotation marks"),
        ("digraph { a-1 -> b }", 1, "put the name in quotation marks"),
        ("digraph { a -> node }", 1, "a name is expected, not 'node'"),
        ("digraph { edge }", 1, "attributes in brackets are expected"),
        ('digraph {\n a [label="x]\n }', 2, "this is not DOT"),
        ("digraph {\n a [label=<x>>] }", 2, "this is not DOT"),
        ("digraph {\n a [label=<<b>x] }", 2, "a text in angle brackets has no end"),
        ("digraph { a -> b }\n/* cut", 2, "this is not DOT"),
        ("digraph { a [b = c + d] }", 1, "a name is expected, not '+'"),
        ('digraph { a [b = "c" + d] }', 1, "a quoted text is expected"),
        ("digraph { a }\nb", 2, "graph or digraph is expected, not 'b'"),
        ("digraph " + "{" * 200, 1, "at most 100 subgraphs"),
    ],
)
def test_what_is_no_dot_is_refused_with_its_line(tmp_path: Path, text: str, line: int, reason: str) -> None:
    with pytest.raises(BadLine) as caught:
        read(tmp_path, text)
    assert (caught.value.line, reason in caught.value.message) == (line, True), caught.value.message
    assert not (tmp_path / "graph.kg").exists()


def test_a_file_that_is_too_long_to_be_read_as_a_whole_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dot, "_LARGEST", 2**20)
    with pytest.raises(LoadError, match="is longer than 1 MB") as caught:
        read(tmp_path, "digraph {\n" + "a -> b;\n" * 150_000 + "}")
    assert "source, target and type" in caught.value.next_step
