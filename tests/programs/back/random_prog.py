"""Runs differently each time."""

import os

number = os.getpid()
for i in range(3):
    number += 1
print(number)
