"""Tries what a debug adapter can do, on a program of the user's: `doctor --suite`."""
