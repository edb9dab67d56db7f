"""Selects what is traced, and formats calls and returns."""
