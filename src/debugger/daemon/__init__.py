"""The daemon: one process that holds the debug sessions, and the way to it."""
