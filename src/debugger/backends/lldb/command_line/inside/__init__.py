"""Holds the modules that run in LLDB's own Python, which imports them by their path."""
