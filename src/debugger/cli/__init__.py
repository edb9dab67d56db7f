"""Derives the command line, the completion and the reference page from the command registry."""
