"""Finds who wrote a value."""
