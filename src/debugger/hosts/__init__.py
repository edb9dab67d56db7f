"""Other machines, containers and pods: how they are reached, and what is debugged there."""
