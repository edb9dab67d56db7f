"""Runs the command line for `python -m debugger`."""

from __future__ import annotations

import sys

from debugger.cli.client import run_process

if __name__ == "__main__":
    sys.exit(run_process())
