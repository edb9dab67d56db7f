"""Prints its arguments, its directory and the variable GREETING."""

from __future__ import annotations

import os
import sys


def main() -> None:
    for number, argument in enumerate(sys.argv[1:], start=1):
        print(f"argument {number}: [{argument}]")  # @argument
    print(f"directory: {os.getcwd()}")
    print(f"GREETING: {os.environ.get('GREETING', '(unset)')}")  # @end


if __name__ == "__main__":
    main()
