"""The adapter js-debug, and the modules of its methods."""
