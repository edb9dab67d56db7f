"""Explains why a run crashed."""
