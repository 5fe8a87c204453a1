"""Answers in XML mean what the same answers mean in JSON, and Virtuoso is asked for them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from rdflib import XSD, BNode, Literal, URIRef

from kgnav_mcp.adapters.sparql_base.results import (
    JSON_TYPE,
    XML_TYPE,
    NoResults,
    Term,
    Unwritable,
    read_rows,
    read_truth,
)
from kgnav_mcp.errors import InvalidStore

from .stub import always, rows, serving
from .test_client import client

VIRTUOSO = "Server: Virtuoso/07.20.3229 (Linux) x86_64-pc-linux-gnu"


def answer(*cells: str) -> bytes:
    """A result of one column, laid out as Virtuoso does."""
    results = "".join(f'\n  <result>\n   <binding name="v">{cell}</binding>\n  </result>' for cell in cells)
    return (
        '<sparql xmlns="http://www.w3.org/2005/sparql-results#">\n <head>\n  <variable name="v"/>\n </head>\n'
        f' <results distinct="false" ordered="true">{results}\n </results>\n</sparql>'
    ).encode()


def truth(value: str) -> bytes:
    return f'<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head/><boolean>{value}</boolean></sparql>'.encode()


@pytest.mark.parametrize(
    ("cell", "term"),
    [
        ("<uri>http://x/a?b=1&amp;c=2</uri>", URIRef("http://x/a?b=1&c=2")),
        ("<uri>http://x/odd|one and a half</uri>", URIRef("http://x/odd|one and a half")),
        ("<bnode>nodeID://b10000</bnode>", BNode("nodeID://b10000")),
        ("<uri>nodeID://b10000</uri>", BNode("nodeID://b10000")),
        ("<literal></literal>", Literal("")),
        ("<literal/>", Literal("")),
        ("<literal>  two blanks at both ends  </literal>", Literal("  two blanks at both ends  ")),
        ("<literal>two\nlines\tand\r\na return</literal>", Literal("two\nlines\tand\r\na return")),
        ("<literal>&lt;&amp;&gt;]]&gt;&quot;&#39;</literal>", Literal("<&>]]>\"'")),
        ("<literal>Grüße 😀</literal>", Literal("Grüße 😀")),
        ('<literal xml:lang="en-gb">x</literal>', Literal("x", lang="en-gb")),
        ('<literal xml:lang="no tag">x</literal>', Literal("x")),
        (f'<literal datatype="{XSD.integer}">007</literal>', Literal("007", datatype=XSD.integer, normalize=False)),
        (f'<literal datatype="{XSD.boolean}">1</literal>', Literal("true", datatype=XSD.boolean)),
    ],
)
def test_every_kind_of_cell_is_a_term(cell: str, term: Term):
    ((row),) = read_rows(answer(cell), XML_TYPE)
    assert (type(row["v"]), row["v"], str(row["v"])) == (type(term), term, str(term))


def test_an_unbound_variable_is_absent_and_no_rows_are_none():
    body = answer("<literal>x</literal>").replace(b"</results>", b"<result></result></results>")
    assert read_rows(body, XML_TYPE) == ({"v": Literal("x")}, {})
    assert read_rows(answer(), XML_TYPE) == ()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"<html></html>",
        b"<sparql/>",
        b"<sparql xmlns='http://www.w3.org/2005/sparql-results#'/>",
        truth("true"),
        answer("<literal>cut</literal>")[:-40],
        answer("text"),
        answer("<number>5</number>"),
        answer("<literal>x</literal>").replace(b' name="v">', b">"),
        b'<!DOCTYPE sparql [<!ENTITY a "x">]>' + answer("<literal>&a;</literal>"),
    ],
)
def test_what_is_no_rows_is_an_error(body: bytes):
    with pytest.raises(NoResults):
        read_rows(body, XML_TYPE)


@pytest.mark.parametrize("character", ["&#1;", "&#8;", "\ufffe"])
def test_characters_that_xml_cannot_have_are_told_from_a_damaged_answer(character: str):
    with pytest.raises(Unwritable):
        read_rows(answer(f"<literal>a{character}b</literal>"), XML_TYPE)
    with pytest.raises(NoResults) as error:
        read_rows(answer("<literal>cut</literal>")[:-40], XML_TYPE)
    assert not isinstance(error.value, Unwritable)


def test_a_truth_is_read_as_the_standard_and_as_virtuoso_write_it():
    assert read_truth(truth("true"), XML_TYPE) is True
    assert read_truth(truth(" false "), XML_TYPE) is False
    yes = answer(f'<literal datatype="{XSD.integer}">1</literal>').replace(b'name="v"', b'name="__ASK_RETVAL"')
    no = answer().replace(b'name="v"', b'name="__ASK_RETVAL"')
    assert read_truth(yes, XML_TYPE) is True
    assert read_truth(no, XML_TYPE) is False
    for body in (truth("1"), truth(""), answer(), b""):
        with pytest.raises(NoResults):
            read_truth(body, XML_TYPE)


async def accepted(*headers: str) -> Sequence[str]:
    """The formats that three queries are asked in."""
    async with serving(always(rows("a"), *headers)) as stub:
        sparql = client(stub.url)
        for _ in range(3):
            await sparql.select("SELECT ?v {}")
        await sparql.close()
        return [request.headers["accept"] for request in stub.requests]


async def test_xml_is_requested_from_virtuoso_only_once_it_has_named_itself():
    assert await accepted(VIRTUOSO) == [JSON_TYPE, XML_TYPE, XML_TYPE]
    assert await accepted("Server: nginx") == [JSON_TYPE] * 3
    assert await accepted() == [JSON_TYPE] * 3


async def test_an_answer_that_xml_cannot_write_is_requested_in_json():
    unwritable = always(answer("<literal>a&#1;b</literal>"), VIRTUOSO, kind=XML_TYPE)
    async with serving(always(rows("x"), VIRTUOSO), unwritable, always(rows("a\x01b"), VIRTUOSO), unwritable) as stub:
        sparql = client(stub.url)
        await sparql.select("SELECT ?v {}")
        assert (await sparql.select("SELECT ?v {}")).rows == ({"v": Literal("a\x01b")},)
        assert [request.headers["accept"] for request in stub.requests] == [JSON_TYPE, XML_TYPE, JSON_TYPE]
        with pytest.raises(InvalidStore, match="damaged or cut"):
            await sparql.select("SELECT ?v {}")  # an endpoint that sends XML whatever it is asked for
        assert len(stub.requests) == 5
        await sparql.close()
