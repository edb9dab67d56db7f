"""Debug sessions: the actor, stepping and waiting, the list of sessions."""
