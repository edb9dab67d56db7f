"""Runs the command line for `python -m debugger`."""

from __future__ import annotations

import sys

from debugger.client import run

if __name__ == "__main__":
    sys.exit(run())
