"""The graph file: one SQLite database, written once by the loader, only read afterwards.

    meta       key, value               format, revision, source names, prefixes, counts, options of the load
    node       id, key                  every entity: its id as loaded (a full IRI, a `_:` blank node, an id of a table)
               label, language          its preferred name; NULL where it has none
               description              one sentence, or NULL
               mediator                 1: a node without a name that only connects others, else 0
    relation   id, key, label           every predicate, relationship type and property name; label NULL: it has no name
               edges, attributes        numbers of its triples with an entity and with a literal as tail
               items, multivalued       number of its attributes that are items of arrays; 1: a node has several
    edge       s, p, o, n               a triple between nodes; n counts parallel ones from 0
               qualifiers               NULL, or JSON: {relation key: [value, ...]}, where a value is
                                        [text, datatype, language], for items of arrays with the index as a fourth,
                                        or {"id": node key}
    attribute  node, p, n               a triple with a literal tail; n counts the values of (node, p) from 0
               text, datatype, language, qualifiers
               item                     the index of an item of a declared array, from 0; NULL for any other value
    label      id, key, name, nodes     every label (class) with the number of its nodes
    node_label node, label
    degree     node, direction, p, n    number of rows by relation, for nodes with more than DEGREE_FLOOR
                                        rows in a direction: 0 outgoing (attributes included), 1 incoming
    through    node, direction, p1, p2, n   the same for two-hop relations through mediators, for nodes in `degree`
    name       id, node, kind, language, text   names (0), aliases (1), descriptions (2), names read from an id (3)
                                        if a node has no name in a preferred language
    name_words the full-text index over name.text; name_vocabulary has its words, to correct misspelt ones
    edge_end   p, side, label, n        labels at the heads (side 0) and tails (1) of a relation, counts maybe sampled
    edge_join  p, head, tail, n         most frequent pairs of labels that a relation joins, counts maybe sampled
    edge_qualifier     p, key, datatype, n      qualifiers of a relation's edges by the datatypes of their values,
                                        `node` for values that are nodes
                       items, multivalued       as in `relation`, for the edges with values of this datatype
    label_property     label, p, datatype, n    literal properties of a label's nodes; label 0: nodes without any

`edge` is stored in the order (s, p, o, n) and again in the order (o, p, s, n), so that both directions are covering
reads, and the distinct relations of a node are found by jumping from one to the next (a skip scan).
"""

APPLICATION_ID = 0x6B676E76
"""SQLite's application_id of a graph file: "kgnv"."""

FORMAT_VERSION = 4
"""SQLite's user_version. A file of another version is refused, with the command to load it again."""

DEGREE_FLOOR = 64
"""A node with more rows than this in one direction is a hub: the load stores its row counts by relation."""
