"""What would a change at a stop do: tried in a second run that was brought to the same place."""
