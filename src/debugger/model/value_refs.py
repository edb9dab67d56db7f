"""Assigns short names (`v1`, `v2`) to the backend's value handles of the current stop."""

from __future__ import annotations

import re

from debugger.errors import DebuggerError, ErrorCode

_REF = re.compile(r"v([0-9]{1,18})\Z")


class ValueRefs:
    """Short names (`v1`, `v2`…) for backend handles; each is valid for one stop.

    Numbers increase across stops, so that an old name is never mistaken for a new one.
    """

    def __init__(self) -> None:
        self._next = 1
        self._handles: dict[int, int] = {}
        self._names: dict[int, int] = {}

    def new_stop(self) -> None:
        """Invalidate all names given so far."""
        self._handles.clear()
        self._names.clear()

    def assign_name(self, handle: int) -> str | None:
        """Return the name of a handle of this stop; None for the handle 0 (no children)."""
        if not handle:
            return None
        number = self._names.get(handle)
        if number is None:
            number = self._next
            self._next += 1
            self._names[handle] = number
            self._handles[number] = handle
        return f"v{number}"

    def find_handle(self, name: str) -> int:
        """Return the handle of a name.

        Raises:
            DebuggerError: STALE_REF for a name of an earlier stop, NOT_FOUND for an unknown one.
        """
        match = _REF.match(name)
        number = int(match[1]) if match else 0
        if number in self._handles:
            return self._handles[number]
        if 0 < number < self._next:
            raise DebuggerError(
                ErrorCode.STALE_REF,
                f"{name} belonged to an earlier stop; the program has run since",
                hint="debugger locals shows the values and their refs of this stop",
            )
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"no ref {name!r}",
            hint="refs look like v3 and come with debugger locals and debugger print",
        )
