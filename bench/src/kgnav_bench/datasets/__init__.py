"""Fetches published sets of questions, and reads each from the form in which it was published."""
