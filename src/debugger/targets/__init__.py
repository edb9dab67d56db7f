"""Resolves a user's words to a program, a process, a core file or a debug server."""
