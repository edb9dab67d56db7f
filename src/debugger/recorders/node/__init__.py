"""Records Node programs with V8's execution counts of each part of each function."""
