"""Records what one run of a program does without stopping it, and evaluates the record."""
