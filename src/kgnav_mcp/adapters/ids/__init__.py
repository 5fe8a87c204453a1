"""Ids of entities and relations: how each kind of store prints what it stores, and which written forms it accepts.

| store | stored | printed | also accepted |
|---|---|---|---|
| graph file | IRI or text | `foaf:name`, `DOID:734`; else as stored | IRI, `<IRI>`, prefixes; `Q42` of Wikidata |
| SPARQL | IRI | `foaf:name`, `DOID:734`, `<PMID:1>`; else the IRI | IRI, `<IRI>`, other prefixes |
| SPARQL | blank node | `_:ex:ada>ex:address>5f0c2a91` | |
| Freebase | IRI | `m.0abc`; outside of its namespace the IRI | `/m/0abc`, `ns:m.0abc`, `rdf:type`, IRI, `<IRI>` |
| Wikidata | IRI | `wd:Q42`, `wdt:P31` | `Q42`, `p:P31`, addresses of pages, IRI, `<IRI>` |
| Neo4j | value of a key | `Label:key=value`; else the store's id | the value; of an IRI: short, full, `<IRI>` |

A short form means an IRI by a declared or well-known prefix, or by the OBO Foundry's rule (`obo/X_n` is `X:n`). Nothing
else is guessed.
"""
