"""A debugger for coding agents, and for the people who watch them."""

__version__ = "0.1.0"
