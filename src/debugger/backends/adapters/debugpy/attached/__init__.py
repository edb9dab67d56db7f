"""Modules that are added to the Python path of a process that debugpy is injected into."""
