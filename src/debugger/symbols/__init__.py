"""Reads binaries: ELF and core files, debug information."""
