"""Reads how a process ended that is no child of ours, before and after its parent waited for it.

A descriptor of the process is opened while it lives (pidfd_open(2)). Until its parent waits, its
status is in proc_pid_stat(5); afterwards the kernel has it for holders of a descriptor
(PIDFD_GET_INFO with PIDFD_INFO_EXIT, Linux 6.15).
"""

from __future__ import annotations

import os
import struct
from contextlib import suppress

from debugger.system.process_info import read_exit_status

_SIZE = 64  # struct pidfd_info, as Linux 6.15 has it
_EXIT = 1 << 3  # PIDFD_INFO_EXIT
_CODE_AT = 60
_GET_INFO = (3 << 30) | (_SIZE << 16) | (0xFF << 8) | 11  # _IOWR(0xFF, 11, struct pidfd_info)
_OPEN_MAX = 256  # descriptors in all; of further processes only the first way is left


class ExitWatch:
    """A process whose exit status is wanted after its end."""

    _open = 0

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._descriptor = -1
        if ExitWatch._open < _OPEN_MAX:
            # No Linux, an old one, or a process that has gone.
            with suppress(AttributeError, OSError):
                self._descriptor = os.pidfd_open(pid)
                ExitWatch._open += 1

    def read_status(self) -> int | None:
        """Return the status of the process: from 0 on, or minus a signal's number.

        None while it runs, and where the system does not tell.
        """
        status = read_exit_status(self._pid)
        if status is not None or self._descriptor < 0:
            return status
        request = bytearray(_SIZE)
        struct.pack_into("Q", request, 0, _EXIT)
        try:
            # Of Linux alone.
            import fcntl

            fcntl.ioctl(self._descriptor, _GET_INFO, request)
        except (ImportError, OSError):
            return None
        if not struct.unpack_from("Q", request, 0)[0] & _EXIT:
            return None
        return os.waitstatus_to_exitcode(struct.unpack_from("i", request, _CODE_AT)[0])

    def close(self) -> None:
        """Close the descriptor; the status is not known any more."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
            ExitWatch._open -= 1
