"""The adapter delve: its profile, and what the profile is made of."""
