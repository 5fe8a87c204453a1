"""Pages of rows and relations for all stores. An adapter only counts and reads rows.

This package never talks to a store. It works on keys of the store's own type for entities and relations: an IRI, a
text, a number. A path is a tuple of relations: one relation, or two that lead through a mediator.

How a page of neighbours is made:

1. `RowSource.probe` may read a short list at once. Otherwise `RowSource.counts` counts the rows. 2. The counts are
split into segments, in the order of the page. 3. `plan_reads` takes as many segments as the page needs. Small segments
are read whole, several in one query    (`RowSource.read_together`). Of a large segment one slice is read
(`RowSource.read_slice`): by the number of rows    before it if the store's order is stable, otherwise by `Key`. 4. If
the store returned fewer rows than were counted, the next segments are read. 5. `RowSource.triples` converts the rows of
the page to triples with names.
"""
