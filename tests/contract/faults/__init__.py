"""What every SPARQL adapter does where its endpoint runs out of time: one query of a call fails, or is cut."""
