"""Explains the pointers of a stopped program with its memory map, symbols, heap and stacks."""
