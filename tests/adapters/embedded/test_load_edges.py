"""Tables of edges and nodes as other programs write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.errors import BadLine, LoadError
from tests.adapters.embedded.loaded import loaded, write

HEADERS = [
    "source,target,type",
    "Source;Target;Type",
    "type\tSOURCE\ttarget",
    "from,to,label",
    "subject,predicate,object",
    "subject,property,value",
    "head\trelation\ttail",
    "head_id,relation_type,tail_id",
    "tail,relation,head",
    "start,end,type",
    "start_node,end_node,relationship",
    "node1\tlabel\tnode2",
    "src,dst,rel",
    "source,interaction,target",
    "source,action,target",
    "s,p,o",
    "h,r,t",
    "?subject,?predicate,?object",
    '"source", "target", "type"',
    "a.name,type(r),b.name",
    ",source,target,type",
    "entity1|relation|entity2",
]


def row_under(header: str) -> str:
    """The edge a-p->b written under a header, in its order, with its delimiter."""
    delimiter = next(mark for mark in ("\t", ";", "|", ",") if mark in header)
    heads = ("source", "from", "subject", "head", "head_id", "start", "start_node", "node1", "src", "entity1", "s", "h")
    tails = (
        "target",
        "to",
        "object",
        "value",
        "tail",
        "tail_id",
        "end",
        "end_node",
        "node2",
        "dst",
        "entity2",
        "o",
        "t",
    )
    cells: list[str] = []
    for name in header.split(delimiter):
        plain = name.strip(' ?"').lower()
        if plain in (*heads, "a.name"):
            cells.append("a")
        elif plain in (*tails, "b.name"):
            cells.append("b")
        else:
            cells.append("p" if plain else "0")
    return delimiter.join(cells)


@pytest.mark.parametrize("name", ["g.csv", "g.tsv", "g.txt.gz"])
@pytest.mark.parametrize("header", HEADERS)
def test_usual_column_names_are_understood_in_any_order_and_with_any_delimiter(
    tmp_path: Path, header: str, name: str
) -> None:
    graph = loaded(tmp_path, {name: f"{header}\n{row_under(header)}\n"})
    assert graph.edges() == [("a", "p", "b")]
    assert graph.meta("kind") == "table"


def test_pandas_writes_further_columns_that_become_typed_qualifiers(tmp_path: Path) -> None:
    text = """,source,target,type,year,share,code,note
0,Jaws,"Roy ""R"" Scheider",starred,1975.0,0.5,007,"a, b"
1,Jaws,Steven Spielberg,directed_by,,2,012,
2,Jaws,Steven Spielberg,directed_by,,,,
3,Jaws,Steven Spielberg,directed_by,,,,
"""
    graph = loaded(tmp_path, {"films.csv": text})
    starred = {
        "year": [["1975", "integer", None]],
        "share": [["0.5", "float", None]],
        "code": [["007", None, None]],
        "note": [["a, b", None, None]],
    }
    assert graph.qualified_edges() == [
        ("Jaws", "directed_by", "Steven Spielberg", 0, None),
        (
            "Jaws",
            "directed_by",
            "Steven Spielberg",
            1,
            {"share": [["2", "float", None]], "code": [["012", None, None]]},
        ),
        ("Jaws", "starred", 'Roy "R" Scheider', 0, starred),
    ]
    assert graph.names("Steven Spielberg") == [(0, None, "Steven Spielberg")]
    assert graph.report.notes == (
        "films.csv: head 'source'; relation 'type'; tail 'target'; qualifiers 'year', 'share', 'code', 'note'; "
        "columns without a name, which are omitted: 1",
    )


@pytest.mark.parametrize(("relation", "key"), [(None, "related_to"), ("knows", "knows")])
def test_edges_without_a_relation_column_are_called_as_the_user_says(
    tmp_path: Path, relation: str | None, key: str
) -> None:
    graph = loaded(tmp_path, {"g.csv": "source,target,weight\na,b,0.5\n"}, LoadOptions(relation=relation))
    assert graph.qualified_edges() == [("a", key, "b", 0, {"weight": [["0.5", "float", None]]})]
    assert f"each edge gets the relation '{key}' (--relation NAME" in graph.report.notes[0]


def test_a_name_for_relations_that_no_source_needs_is_told(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.csv": "source,target,type\na,b,p\n"}, LoadOptions(relation="knows"))
    assert graph.edges() == [("a", "p", "b")]
    assert "was not needed" in graph.report.warnings[0]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("g.txt", "a b {'weight': 0.5, 'tags': ['x', 'y']}\nb c {}\n"),
        ("g.tsv", "a\tb\t{'weight': 0.5, 'tags': ['x', 'y']}\nb\tc\t{}\n"),
        ("g.csv", "a,b,{'weight': 0.5, 'tags': ['x', 'y']}\nb,c,{}\n"),
        ("g.edgelist", "# a comment\na b {'weight': 0.5, 'tags': ['x', 'y']}\nb c\n"),
    ],
)
def test_an_edge_list_of_networkx_is_no_list_of_triples(tmp_path: Path, name: str, text: str) -> None:
    graph = loaded(tmp_path, {name: text})
    qualifiers = {"weight": [["0.5", "float", None]], "tags": [["x", None, None, 0], ["y", None, None, 1]]}
    assert graph.qualified_edges() == [("a", "related_to", "b", 0, qualifiers), ("b", "related_to", "c", 0, None)]
    assert "two nodes and the weight" in graph.report.notes[0]


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        ("g.txt", "a b 0.5\na c 2\n", None),
        ("g.tsv", "a\tb\t0.5\na\tc\t2\n", "edges"),
        ("g.csv", "a,b,0.5\na,c,2\n", "edges"),
    ],
)
def test_a_weighted_edge_list_has_weights_and_not_relations(
    tmp_path: Path, name: str, text: str, form: str | None
) -> None:
    graph = loaded(tmp_path, {name: text}, LoadOptions(source_format=form))
    assert graph.qualified_edges() == [
        ("a", "related_to", "b", 0, {"weight": [["0.5", "float", None]]}),
        ("a", "related_to", "c", 0, {"weight": [["2", "integer", None]]}),
    ]


def test_numbers_of_nodes_as_snap_writes_them_are_edges(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.txt": "# FromNodeId\tToNodeId\n0\t1\n1\t2\n"})
    assert graph.edges() == [("0", "related_to", "1"), ("1", "related_to", "2")]


@pytest.mark.parametrize("text", ["ann\tbob\t0.5\nbob\tcarol\t2\n", "0\t1\t7\n1\t2\t3\n"])
def test_a_number_in_every_third_column_is_asked_about(tmp_path: Path, text: str) -> None:
    source = write(tmp_path, "g.tsv", text)
    with pytest.raises(LoadError, match="a number in every third column") as caught:
        load([source], tmp_path / "g.kg")
    assert "--format edges" in caught.value.next_step
    assert "--format triples" in caught.value.next_step
    assert load([source], tmp_path / "g.kg", LoadOptions(source_format="triples")).triples == 2


def test_numbers_behind_a_few_relations_are_tails_and_that_is_told(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.tsv": "".join(f"film {n}\tin_year\t{1900 + n}\n" for n in range(20))})
    assert graph.edges()[0] == ("film 0", "in_year", "1900")
    assert "--format edges" in graph.report.notes[0]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a b {'weight': 0.5}\na b {'weight': float('nan')}\n", "the attributes"),
        ("a b 0.5\na b heavy\n", "a number or attributes"),
        ("a b 0.5\na\n", "two nodes"),
        ("a b 0.5\na b " + "{" * 5000 + "\n", "the attributes"),
    ],
)
def test_a_bad_line_in_an_edge_list_is_one(tmp_path: Path, text: str, reason: str) -> None:
    source = write(tmp_path, "g.edges", text)
    with pytest.raises(BadLine, match=rf"g\.edges:2: .*{reason}"):
        load([source], tmp_path / "g.kg")
    report = load([source], tmp_path / "g.kg", LoadOptions(skip_bad=True))
    assert (report.triples, report.bad_lines) == (1, 1)


def test_gephis_pair_of_tables_has_names_properties_and_directions(tmp_path: Path) -> None:
    nodes = "Id,Label,timeset,modularity_class\n0,Myriel,,0\n1,Napoleon,,3\n"
    edges = "Source,Target,Type,Id,Label,timeset,Weight\n1,0,Directed,0,,,1.0\n1,0,Directed,1,visits,,8.0\n"
    graph = loaded(tmp_path, {"edges.csv": edges, "nodes.csv": nodes})
    assert [(s, p, o) for s, p, o in graph.edges()] == [("1", "related_to", "0"), ("1", "visits", "0")]
    assert graph.qualified_edges()[1][4] == {
        "Type": [["Directed", None, None]],
        "Id": [["1", "integer", None]],
        "Weight": [["8", "integer", None]],
    }
    assert {key: label for key, (label, _, _) in graph.nodes().items()} == {"0": "Myriel", "1": "Napoleon"}
    assert graph.attributes("1") == [("Label", "Napoleon", None, None), ("modularity_class", "3", "integer", None)]
    assert "an edge without a relation gets the relation 'related_to'" in graph.report.notes[0]


def test_columns_that_name_the_others_give_names_as_wikidatas_downloads_have_them(tmp_path: Path) -> None:
    wd, wdt = "http://www.wikidata.org/entity/", "http://www.wikidata.org/prop/direct/"
    header = "item,itemLabel,property,propertyLabel,value,valueLabel"
    graph = loaded(tmp_path, {"query.csv": f"{header}\n{wd}Q42,Douglas Adams,{wdt}P19,place of birth,{wd}Q350,\n"})
    assert graph.qualified_edges() == [(f"{wd}Q42", f"{wdt}P19", f"{wd}Q350", 0, None)]
    assert graph.nodes()[f"{wd}Q42"][0] == "Douglas Adams"
    assert graph.rows("SELECT label FROM relation") == [("place of birth",)]


def test_cytoscapes_sif_has_several_tails_a_line_and_nodes_without_edges(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"net.sif": "a pp b c\nd\n"})
    assert graph.edges() == [("a", "pp", "b"), ("a", "pp", "c")]
    assert set(graph.nodes()) == {"a", "b", "c", "d"}
    with pytest.raises(BadLine, match=r"net\.sif:2"):
        loaded(tmp_path, {"net.sif": "a pp b\na pp\n"})


def test_raw_quotation_marks_between_tabs_stay(tmp_path: Path) -> None:
    text = 'head\trelation\ttail\n"Weird Al" Yankovic\tsings\tEat It\n'
    assert loaded(tmp_path, {"g.tsv": text}).edges() == [('"Weird Al" Yankovic', "sings", "Eat It")]


def test_a_row_of_another_width_or_without_an_end_is_a_bad_line(tmp_path: Path) -> None:
    source = write(tmp_path, "g.csv", "\nsource,target,type\na,b,p\na,,p\na,b\na,b,\n")
    report = load([source], tmp_path / "g.kg", LoadOptions(skip_bad=True))
    assert [bad.message for bad in report.first_bad_lines] == [
        "g.csv:4: the column target is empty",
        "g.csv:5: expected 3 fields, found 2",
        "g.csv:6: the column type is empty",
    ]


def test_edges_for_neo4j_admin_alone_ask_for_their_nodes_or_make_them(tmp_path: Path) -> None:
    source = write(tmp_path, "edges.csv", ":START_ID,:END_ID,:TYPE\n1,2,KNOWS\n")
    with pytest.raises(LoadError, match="no source has their nodes") as caught:
        load([source], tmp_path / "g.kg")
    assert "--nodes-from-edges" in caught.value.next_step
    graph = loaded(tmp_path, {"edges.csv": source.read_text()}, LoadOptions(nodes_from_edges=True))
    assert graph.edges() == [("1", "KNOWS", "2")]
    assert graph.nodes() == {"1": ("1", None, 0), "2": ("2", None, 0)}


def test_nodes_that_only_edges_name_are_made_beside_those_of_a_node_file(tmp_path: Path) -> None:
    files = {"nodes.csv": ":ID,name\n1,Ann\n", "edges.csv": ":START_ID,:END_ID,:TYPE\n1,2,KNOWS\n"}
    with pytest.raises(BadLine, match="no node has the id '2'") as caught:
        loaded(tmp_path, files)
    assert "--nodes-from-edges" in caught.value.next_step
    graph = loaded(tmp_path, files, LoadOptions(nodes_from_edges=True))
    assert graph.nodes() == {"1": ("Ann", None, 0), "2": ("2", None, 0)}
