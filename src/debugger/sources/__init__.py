"""Reads source files: functions, lines, imports, packages."""
