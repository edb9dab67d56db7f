"""Answers questions about a whole run: runs a program, collects the answer, and cleans up."""
