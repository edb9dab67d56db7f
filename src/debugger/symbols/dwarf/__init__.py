"""Reads the debug information of an ELF file: bytes of files in, values out, without Frida."""
