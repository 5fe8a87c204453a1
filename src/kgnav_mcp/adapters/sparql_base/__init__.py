"""What every SPARQL adapter stands on: terms into queries, one pooled connection, answers and errors out of it."""
