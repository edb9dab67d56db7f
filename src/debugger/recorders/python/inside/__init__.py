"""What runs inside a recorded program: standard library only, Python 3.8 and later, run by path."""
