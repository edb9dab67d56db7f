"""Records the executed lines of a native program by breakpoints that are removed when reached."""
