"""Lists in pages, written once for all stores: an adapter says how to count rows and how to read them.

Nothing here asks a store, and nothing here knows one. Entities and relations are keys of the store's own type: an IRI,
a text, a number. A path is a tuple of relations: of one, or of two that lead through a mediator.

counts       `RelationCounts`: rows of each path at each entity; totals, sums, parts; `CountCache` keeps them a minute
positions    `Place` and `Position`: where a page ends, as the text that the next page starts behind
segments     `Segment`: the rows of one path at one entity; the order of segments, and `plan`: what a page reads
neighbours   `RowSource`, which an adapter derives from, and the page of triples made by it
relations    the page of relations made of counts
directions   both directions as one list

A page of neighbours is made so: `RowSource.probe` may read a short list at once; else `RowSource.counts` counts, and
the counts are cut into segments in the order of the page. `plan` takes as many as hold the rows that are wanted: small
segments are read whole, several by one query (`RowSource.together`), a large one by a slice (`RowSource.slice`). Where
that gave fewer rows than were counted, the next segments are read. `RowSource.triples` names the rows of the page.
"""
