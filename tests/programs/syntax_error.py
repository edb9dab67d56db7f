"""Does not parse: a bracket is never closed."""

print("never printed")
values = [1, 2
print(values)
