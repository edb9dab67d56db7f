"""What the debug information of an ELF file says: bytes of files in, values out, no Frida."""
