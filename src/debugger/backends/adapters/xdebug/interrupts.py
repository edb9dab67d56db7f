"""Stops PHP while it runs, by a signal.

Xdebug reads no commands while PHP runs. So PHP gets a signal handler of ours, a function that calls
`xdebug_break()`: PHP runs handlers between two instructions, wherever it is. The stop is in that
function, called from the line where PHP was.
"""

from __future__ import annotations

import os
import signal
import xml.etree.ElementTree as ET
from pathlib import Path

# A signal that neither the C library, which has the first ones, nor PHP uses.
_SIGNAL = signal.SIGRTMAX - 3
_NAME = "debugger_interrupt"
# With it a call of the system is interrupted, too, and not begun again: set by the question hang.
INTERRUPTS_VARIABLE = "DEBUGGER_PHP_INTERRUPTS"
# The statement after the call lets the stop be in the function. Functions may be disabled. Xdebug
# evaluates expressions, and this one is a call.
_HANDLER = f"function {_NAME}() {{ xdebug_break(); return; }}"
INSTALL_HANDLER = (
    f"function_exists('pcntl_signal') && (function_exists('{_NAME}') || "
    f"eval('{_HANDLER}') === null) && "
    "is_bool(pcntl_async_signals(true)) && "
    f"pcntl_signal({_SIGNAL}, '{_NAME}', !getenv('{INTERRUPTS_VARIABLE}'))"
)


def is_handler(frame: ET.Element) -> bool:
    """Return whether a frame is our signal handler's."""
    return frame.get("where") == _NAME


def is_in_handler(frame: ET.Element) -> bool:
    """Return whether a frame is said to be in our handler's text.

    Xdebug 3.2 leaves the handler's own frame out where PHP stands before a statement, and says the
    handler's line of the frame below.
    """
    return "debug-eval" in (frame.get("filename") or "")


def send_interrupt(pid: int) -> bool:
    """Send the signal to a process that has a handler for it; tell whether it has."""
    # Without a handler it would end the process, or another one that has its number now.
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        caught = int(status.partition("SigCgt:")[2].split()[0], 16)
        if not caught & 1 << (_SIGNAL - 1):
            return False
        os.kill(pid, _SIGNAL)
    except (OSError, IndexError, ValueError):
        return False
    return True
