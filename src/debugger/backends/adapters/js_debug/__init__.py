"""The adapter js-debug: its profile, and the modules of the profile's hooks."""
