"""Records one run of a program without stopping it, and evaluates the recording."""
