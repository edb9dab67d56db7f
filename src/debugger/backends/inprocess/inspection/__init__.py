"""Reads and changes the state of a program: stacks, values, registers, memory, code."""
