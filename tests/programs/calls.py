"""Has a line with two calls."""

from __future__ import annotations


def twice(n: int) -> int:
    return 2 * n  # @twice


def minus(n: int) -> int:
    return -n  # @minus


def main() -> None:
    total = twice(4) + minus(4)  # @calls
    print(total)  # @end


if __name__ == "__main__":
    main()
