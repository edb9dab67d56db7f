"""Counts until `running` is set to False, or for 120 seconds."""

from __future__ import annotations

import time

DEADLINE = time.monotonic() + 120


def count() -> int:
    running = True
    counter = 0
    while running and time.monotonic() < DEADLINE:
        counter += 1  # @count
    return counter


def main() -> None:
    print("counting", flush=True)  # @start
    count()
    print("done")  # @done


if __name__ == "__main__":
    main()
