"""Raises an exception and catches it itself."""

from __future__ import annotations


class OrderError(Exception):
    pass


def main() -> None:
    for order in (1, 2, 3):
        try:
            if order > 2:
                raise OrderError("order 3 has no items")  # @raise
        except OrderError as error:
            print(f"caught: {error}")  # @catch


if __name__ == "__main__":
    main()
