"""Holds the code inside a recorded Python: standard library only, from 3.8 on, run by path."""
