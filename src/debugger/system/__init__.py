"""Describes processes, threads and file descriptors of this machine, and runs the supervisor."""
