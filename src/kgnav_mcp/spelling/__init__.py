"""What users write as plans, each language in a module of its own; nothing of a store is in here."""
