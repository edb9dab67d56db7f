"""What runs inside a program that hangs, to tell of it."""
