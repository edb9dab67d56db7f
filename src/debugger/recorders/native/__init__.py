"""Counts the code that a native program runs: its blocks, branches and small results."""
