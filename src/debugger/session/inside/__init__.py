"""Holds the code that runs inside a session's program, whatever is asked of it."""
