"""Echoes its input in upper case, line by line, until the end of the input."""

from __future__ import annotations

import sys


def main() -> None:
    count = 0
    print("ready", flush=True)
    for line in sys.stdin:
        count += 1
        print(line.rstrip("\n").upper(), flush=True)  # @read
    print(f"{count} lines")  # @eof


if __name__ == "__main__":
    main()
