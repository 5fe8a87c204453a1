"""What all SPARQL adapters share: terms in queries, a pooled HTTP client, parsed answers and translated errors."""
