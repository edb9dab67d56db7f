"""Records the values of expressions at locations of a run, at each hit."""
