"""Explains pointers: what a value's bytes, the memory map and the heap say of it. Pure."""
