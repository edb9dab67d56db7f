"""Runs a program for a question, and keeps the answers."""
