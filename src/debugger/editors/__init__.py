"""Serves debug sessions to editors, as a debug adapter (the Debug Adapter Protocol, both ways)."""
