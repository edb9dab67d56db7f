"""What drives a program: one protocol, several debuggers behind it."""
