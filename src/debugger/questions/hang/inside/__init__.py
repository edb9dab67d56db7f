"""Holds the code that runs inside a hanging program and reports its threads."""
