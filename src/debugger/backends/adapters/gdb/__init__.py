"""The adapter gdb, and the modules of its methods."""
