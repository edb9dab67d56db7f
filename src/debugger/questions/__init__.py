"""Questions about a whole run: each runs a program to the end of its question, and cleans up."""
