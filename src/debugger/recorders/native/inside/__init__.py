"""Holds the script that runs a recorded native program: standard library only, run by path."""
