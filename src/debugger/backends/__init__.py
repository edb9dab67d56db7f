"""Holds the backends: one protocol, with several debuggers behind it."""
