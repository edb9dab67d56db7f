"""Names signals."""

from __future__ import annotations

import signal


def signal_name(number: int) -> str:
    """Name a signal: `SIGSEGV`; one without a name, as most real-time ones are: `SIG40`."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"
