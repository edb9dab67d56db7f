"""Explains why a program hangs."""
