"""Resolves what a user names to a program, a process, a core file or a debug server."""
