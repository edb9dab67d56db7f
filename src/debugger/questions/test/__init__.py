"""Finds the failing test, and where its wrong value came from."""
