"""Compares two runs of a program."""
