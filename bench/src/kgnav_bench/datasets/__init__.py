"""Reads the published forms of question sets as questions, and fetches them."""
