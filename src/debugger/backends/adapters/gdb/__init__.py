"""The adapter gdb: its profile, and what the profile is made of."""
