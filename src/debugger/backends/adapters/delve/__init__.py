"""The adapter delve, and the modules of its methods."""
