"""Greets whom the arguments name."""

from __future__ import annotations

import sys

from pkg.mod import greeting


def main() -> int:
    for name in sys.argv[1:] or ["world"]:
        print(greeting(name))  # @greet
    return 0


if __name__ == "__main__":
    sys.exit(main())
