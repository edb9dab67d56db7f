"""Code that runs inside gdb."""
