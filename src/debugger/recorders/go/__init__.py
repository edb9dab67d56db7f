"""Records Go programs: builds them with a counter for each block of statements."""
