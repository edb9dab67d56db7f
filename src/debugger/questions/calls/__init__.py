"""Reports single calls of a function, line by line."""
