"""Holds the machine code that the engine injects, and its sources."""
