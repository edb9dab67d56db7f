"""The names of signals."""

from __future__ import annotations

import signal

from debugger.model.signals import signal_name


def test_a_signal_is_called_by_its_name_and_by_its_number_without_one():
    assert signal_name(signal.SIGSEGV) == "SIGSEGV"
    assert signal_name(signal.SIGRTMIN + 6) == f"SIG{signal.SIGRTMIN + 6}"
