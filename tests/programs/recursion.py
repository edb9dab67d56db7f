"""Calls itself 10,000 deep (or as deep as its argument says)."""

from __future__ import annotations

import sys


def descend(depth: int) -> int:
    if depth == 0:
        return 0  # @bottom
    return depth + descend(depth - 1)  # @deeper


def main() -> None:
    depth = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    sys.setrecursionlimit(20_000)
    print(f"sum {descend(depth)}")  # @call


if __name__ == "__main__":
    main()
