"""How Go records itself: programs that are built to count how often each statement ran."""
