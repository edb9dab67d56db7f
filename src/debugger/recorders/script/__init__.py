"""Records programs in Ruby and PHP: calls, lines, and each change of a value, in one run."""
