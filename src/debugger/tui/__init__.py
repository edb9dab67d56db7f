"""The sessions in a terminal, for a person who watches an agent."""
