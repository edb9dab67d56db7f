"""Squares numbers in two processes."""

from __future__ import annotations

import multiprocessing


def square(number: int) -> int:
    result = number * number
    return result  # @square


def main() -> None:
    numbers = [1, 2, 3, 4]
    # Spawned: a fork of a traced process shares more with it than a test wants to know.
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        squares = pool.map_async(square, numbers).get(timeout=100)  # @map
    print(sum(squares), flush=True)  # @sum


if __name__ == "__main__":
    main()
