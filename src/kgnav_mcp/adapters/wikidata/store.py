"""State shared by all readers of a Wikibase: connection, settings, and the terms of its data model."""

from __future__ import annotations

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.ids.wikibase import WikibaseIds
from kgnav_mcp.adapters.sparql_base.query_reader import Reader, Selects
from kgnav_mcp.adapters.sparql_base.terms import Fragment
from kgnav_mcp.adapters.wikidata import queries
from kgnav_mcp.adapters.wikidata.options import Wikidata
from kgnav_mcp.adapters.wikidata.queries import Form
from kgnav_mcp.port import AdapterOptions


class Store:
    """The endpoint with its settings. Its `reader` fills in the terms and fragments that all queries share."""

    def __init__(
        self, client: Selects, wikidata: Wikidata, ids: WikibaseIds, form: Form, options: AdapterOptions
    ) -> None:
        self.wikidata = wikidata
        self.ids = ids
        self.form = form
        self.languages = options.languages
        known = {
            "best": queries.RANKED if wikidata.every_rank else queries.BEST,
            "value": Literal(f"{ids.base}{form.folder}P"),
            "qualifier": Literal(f"{ids.base}/prop/qualifier/P"),
            "entities": Literal(ids.entities),
            "statements": Literal(f"{ids.entities}statement/"),
            "instance": ids.direct(wikidata.instance_of),
            "typed": ids.direct(wikidata.instance_of),
        }
        self.reader = Reader(client, known, options.timeout, prologue=queries.PREFIXES)
        fragments = {
            "every": form.every,
            "leaving": form.leaving,
            "leaving_to": form.leaving_to,
            "arriving": form.arriving,
        }
        self.reader.add_known({name: self.reader.part(fragment) for name, fragment in fragments.items()})

    def value(self, local: str) -> URIRef:
        """The predicate that leads to the values of a property in this form of a copy."""
        return URIRef(f"{self.ids.base}{self.form.folder}{local}")

    def rows(self, fragment: str, local: str, **terms: URIRef) -> Fragment:
        """A fragment of the form, filled in for one property."""
        predicates = {"claim": self.ids.claim(local), "p": self.ids.value(local), "direct": self.ids.direct(local)}
        return self.reader.part(fragment, **terms, **{n: iri for n, iri in predicates.items() if f"${n} " in fragment})
