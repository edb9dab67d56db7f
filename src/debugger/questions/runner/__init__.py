"""Runs a program for a question, and stores the answers as evidence."""
