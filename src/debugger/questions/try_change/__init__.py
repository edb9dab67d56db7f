"""Tries a change at a stop, in a second run that is brought to the same stop."""
