"""What is seen and changed in a program: stacks, values, registers, memory, code."""
