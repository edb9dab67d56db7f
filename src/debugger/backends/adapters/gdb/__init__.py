"""The adapter gdb: its profile, and the modules of the profile's hooks."""
