"""Finds the failing test, and the origin of its wrong value."""
