"""The adapter delve: its profile, and the modules of the profile's hooks."""
