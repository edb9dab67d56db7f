"""Live debugging inside the program, by Frida (Linux, x86-64)."""
