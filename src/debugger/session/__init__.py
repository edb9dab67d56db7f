"""Runs debug sessions: the session actor, stepping and waiting, the list of sessions."""
