"""Counts the code that a native program runs: its blocks, branches, lines and small results."""
