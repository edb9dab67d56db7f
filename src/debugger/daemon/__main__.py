"""Runs the daemon for `python -m debugger.daemon`."""

from __future__ import annotations

import sys

from debugger.daemon.daemon_process import run_daemon

if __name__ == "__main__":
    import os

    from debugger import config
    from debugger.daemon.dispatch import build_handler
    from debugger.errors import DebuggerError

    try:
        settings = config.load_config(os.environ).daemon
    except DebuggerError:
        # Every command reads the file again, and says what is wrong with it.
        settings = config.DaemonSettings()
    sys.exit(run_daemon(build_handler, idle_s=settings.idle_timeout_minutes * 60))
