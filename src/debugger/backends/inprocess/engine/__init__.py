"""Stops, watches and traces a live program from within the process, by address."""
