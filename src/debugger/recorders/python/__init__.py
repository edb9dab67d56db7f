"""Records Python programs with code that runs in their interpreter."""
