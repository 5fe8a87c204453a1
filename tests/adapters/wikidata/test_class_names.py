"""A name that other classes may have, too, is not said to mean all of them."""

from __future__ import annotations

import pytest
from rdflib import Literal

from kgnav_mcp.model import Count, Stop
from tests.adapters.sparql_base.inprocess import ALL_ROWS, InProcess, opened_over
from tests.contract.faults.people import WIKIDATA

CLASSES = r"WHERE \{ \?s \S+ \?o \} GROUP BY \?o"


def _endpoint(*, whole: bool, number_of: int) -> InProcess:
    """A graph with so many classes, of which the first two are called city, or of which only some are known."""
    classes = [{"o": WIKIDATA.iri(f"Q{n}"), "n": Literal(9_000 - n)} for n in range(1, number_of + 1)]
    labels = [{"s": row["o"], "o": Literal("city" if n < 2 else "x", lang="en")} for n, row in enumerate(classes)]
    told = [
        (CLASSES, classes),
        (r"SELECT DISTINCT \?s WHERE .*OFFSET", [{"s": WIKIDATA.iri("Q9001")}]),
        (r"AS \?n\) WHERE \{ SELECT DISTINCT", [{"n": Literal(1)}]),
        (r"rdfs:label \?o FILTER", labels),
    ]
    return InProcess(WIKIDATA.written(()), answers=told, cut={} if whole else {CLASSES: ALL_ROWS})


@pytest.mark.parametrize(
    ("whole", "number_of", "all_named"), [(True, 3, True), (False, 3, False), (True, 2_001, False)]
)
async def test_a_list_over_a_name_that_other_classes_may_have_is_not_said_to_be_all(
    whole: bool, number_of: int, all_named: bool
):
    async with opened_over(_endpoint(whole=whole, number_of=number_of), WIKIDATA.location) as graph:
        page = await graph.nodes("city", None, None, limit=5)
        assert page.total == (Count(1) if all_named else Count.at_least(1))
        assert page.note == ("" if all_named else "Other classes may have the name 'city', too. Used: wd:Q1, wd:Q2.")
        assert page.stop is Stop.COMPLETE
        page = await graph.nodes("Q1", None, None, limit=5)
        assert (page.total, page.note) == (Count(1), "")
