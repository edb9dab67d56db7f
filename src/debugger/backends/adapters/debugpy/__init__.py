"""The adapter debugpy, and the modules of its methods."""
