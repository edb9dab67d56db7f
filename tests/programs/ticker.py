"""Prints 600 long lines in 6 seconds, and keeps the last one's number in a file."""

from __future__ import annotations

import sys
import time
from pathlib import Path


def main(place: Path | None) -> None:
    padding = "." * 500
    for number in range(1, 601):
        print(f"tick {number} {padding}", flush=True)  # @tick
        if place:
            place.write_text(f"{number}\n")
        time.sleep(0.01)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
