"""A package that runs by `-m pkg`."""
