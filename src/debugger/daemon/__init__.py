"""Runs the daemon, one process that owns the debug sessions, and connects clients to it."""
