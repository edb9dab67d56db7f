"""Code that runs inside the members of a group."""
