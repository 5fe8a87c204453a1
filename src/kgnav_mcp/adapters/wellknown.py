"""IRIs built into every RDF adapter: usual relations for names, aliases, descriptions and types; common prefixes."""

from __future__ import annotations

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
XSD = "http://www.w3.org/2001/XMLSchema#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
FOAF = "http://xmlns.com/foaf/0.1/"
DCTERMS = "http://purl.org/dc/terms/"
FREEBASE = "http://rdf.freebase.com/ns/"
OWL = "http://www.w3.org/2002/07/owl#"
OBO = "http://purl.obolibrary.org/obo/"
OBO_IN_OWL = "http://www.geneontology.org/formats/oboInOwl#"
SCHEMA = ("http://schema.org/", "https://schema.org/")

OWL_DEPRECATED = OWL + "deprecated"
RDF_TYPE = RDF + "type"
RDFS_SUBCLASS = RDFS + "subClassOf"
RDF_REIFIES = RDF + "reifies"
RDF_STATEMENT = RDF + "Statement"
RDF_SUBJECT = RDF + "subject"
RDF_PREDICATE = RDF + "predicate"
RDF_OBJECT = RDF + "object"

NAME_RELATIONS = (
    RDFS + "label",
    SKOS + "prefLabel",
    *(namespace + "name" for namespace in SCHEMA),
    FOAF + "name",
    FREEBASE + "type.object.name",
)
ALIAS_RELATIONS = (
    SKOS + "altLabel",
    SKOS + "hiddenLabel",
    *(f"{OBO_IN_OWL}has{scope}Synonym" for scope in ("Exact", "Narrow", "Broad", "Related")),
    OBO + "IAO_0000118",
    *(namespace + "alternateName" for namespace in SCHEMA),
    FREEBASE + "common.topic.alias",
)
DESCRIPTION_RELATIONS = (
    *(namespace + "description" for namespace in SCHEMA),
    OBO + "IAO_0000115",
    SKOS + "definition",
    DCTERMS + "description",
    FREEBASE + "common.topic.description",
    RDFS + "comment",
)

PREFIXES = {
    "rdf": RDF,
    "rdfs": RDFS,
    "xsd": XSD,
    "owl": OWL,
    "skos": SKOS,
    "foaf": FOAF,
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": DCTERMS,
    "schema": "http://schema.org/",
    "prov": "http://www.w3.org/ns/prov#",
    "wd": "http://www.wikidata.org/entity/",
    "wdt": "http://www.wikidata.org/prop/direct/",
    "p": "http://www.wikidata.org/prop/",
    "ps": "http://www.wikidata.org/prop/statement/",
    "pq": "http://www.wikidata.org/prop/qualifier/",
    "wikibase": "http://wikiba.se/ontology#",
    "dbr": "http://dbpedia.org/resource/",
    "dbo": "http://dbpedia.org/ontology/",
    "dbp": "http://dbpedia.org/property/",
    "fb": FREEBASE,
    "geo": "http://www.opengis.net/ont/geosparql#",
    "obo": OBO,
    "oboInOwl": OBO_IN_OWL,
    "void": "http://rdfs.org/ns/void#",
    "dcat": "http://www.w3.org/ns/dcat#",
}
"""Prefixes that may be used without being declared by the source. A source's own declaration wins."""
