"""The adapter debugpy: its profile, and what the profile is made of."""
