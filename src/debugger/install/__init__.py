"""Finds, checks and installs the adapters and tools that a session needs."""
