"""What every SPARQL adapter does where its endpoint runs out of time or rows: one query of a call fails, or is cut."""
