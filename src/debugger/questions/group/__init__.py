"""Answers for groups: merged stacks, values and stops of many processes."""
