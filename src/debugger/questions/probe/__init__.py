"""Records the values of expressions at locations of a run, each time they are reached."""
