"""What runs inside gdb, by its own Python; the names are global there, so they carry a prefix."""
