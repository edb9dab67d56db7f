"""Runs the daemon for `python -m debugger.daemon`."""

from __future__ import annotations

import sys

from debugger.daemon.process import run

if __name__ == "__main__":
    import os

    from debugger import config
    from debugger.daemon.dispatch import build_handler
    from debugger.errors import DebuggerError

    try:
        kept = config.load(os.environ).daemon
    except DebuggerError:
        # Every command reads the file again, and says what is wrong with it.
        kept = config.Daemon()
    sys.exit(run(build_handler, idle_s=kept.idle_timeout_minutes * 60))
