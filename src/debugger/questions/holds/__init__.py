"""Checks invariants over a run, and finds the statement that first made one false."""
