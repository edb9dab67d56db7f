def down(n):
    if n == 0:
        return 0  # @deepest
    below = down(n - 1)
    return below + n


total = down(3)  # @calls
print(total)
