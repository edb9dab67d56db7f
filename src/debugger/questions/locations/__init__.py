"""Locations that are not lines: the crash, the failing assertion, the last hit of a line."""
