"""Finds the code that wrote a value."""
