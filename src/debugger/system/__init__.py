"""What can be debugged: programs, processes, core files."""
