"""Explains a program that hangs."""
