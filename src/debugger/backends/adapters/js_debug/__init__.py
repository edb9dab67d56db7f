"""The adapter js-debug: its profile, and what the profile is made of."""
