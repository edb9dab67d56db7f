"""What does `python -m debugger.daemon` run?"""

from __future__ import annotations

import sys

from debugger.daemon.process import run

if __name__ == "__main__":
    import os

    from debugger import config
    from debugger.daemon.dispatch import build_handler

    idle_s = config.load(os.environ).daemon.idle_timeout_minutes * 60
    sys.exit(run(build_handler, idle_s=idle_s))
