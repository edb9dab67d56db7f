"""Holds the debug adapters: how each is found and started, and where it differs."""
