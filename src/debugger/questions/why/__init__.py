"""Follows a value back to where it comes from."""
