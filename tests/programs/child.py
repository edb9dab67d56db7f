"""Runs child_worker.py as a child process and ends with its exit status."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

WORKER = Path(__file__).with_name("child_worker.py")


def main() -> int:
    print("parent starts", flush=True)
    done = subprocess.run([sys.executable, str(WORKER), "7"], check=False)  # @run
    print(f"child ended with {done.returncode}", flush=True)  # @after
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
