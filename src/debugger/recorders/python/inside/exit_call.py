"""Keeps the frame that ends the program by `sys.exit`, whose variables are gone at the end."""

from __future__ import annotations

import sys
from _thread import get_ident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

_CALLERS = 400


class ExitCall:
    """The last call of `sys.exit` in the main thread of a process.

    The function is wrapped; the frame is kept, and with it its variables, until the process ends.
    """

    def __init__(self) -> None:
        self.begin_process()
        real = sys.exit

        def exit(*arguments: Any, **named: Any) -> Any:  # noqa: A001 - the program sees this name
            if get_ident() == self._thread:
                self._keep_stack(sys._getframe(1))  # noqa: SLF001 - there is no other way
            return real(*arguments, **named)

        exit.__qualname__ = "exit"
        exit.__doc__ = real.__doc__
        sys.exit = exit

    def begin_process(self) -> None:
        """Start without a call, as a forked child does."""
        self._thread = get_ident()
        self._stack: list[tuple[FrameType, int | None]] = []

    def find_frame(self, chosen: Any) -> FrameType | None:
        """Return the innermost frame of the program's own code that ends the process.

        Within `os._exit` and the like it runs still. A frame of the kept call that has another line
        since has caught the exception.
        """
        frame: FrameType | None = sys._getframe(1)  # noqa: SLF001
        running = []
        while frame is not None:
            running.append(frame)
            frame = frame.f_back
        has_gone_on = any(one.f_lineno != line for one, line in self._stack)
        before = [] if has_gone_on else [one for one, _ in self._stack]
        for one in (*running, *before):
            if chosen.is_ours(one.f_code):
                return one
        return None

    def _keep_stack(self, frame: FrameType | None) -> None:
        self._stack = []
        while frame is not None and len(self._stack) < _CALLERS:
            self._stack.append((frame, frame.f_lineno))
            frame = frame.f_back
