"""The adapter debugpy: its profile, and the modules of the profile's hooks."""
