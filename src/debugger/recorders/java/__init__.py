"""Counts the lines of programs on the JVM, by an agent that rewrites their classes."""
