"""Holds the `sitecustomize` that a recorded program's interpreter imports first."""
