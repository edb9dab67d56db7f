"""The child of child.py: doubles its argument."""

from __future__ import annotations

import sys


def double(number: int) -> int:
    result = number * 2
    return result  # @worker


def main() -> None:
    number = int(sys.argv[1])
    print(f"child says {double(number)}", flush=True)


if __name__ == "__main__":
    main()
