"""Reports code that is about to be run by `exec`, and runs other code in its place.

Python runs a script without a call that could be wrapped, but not without its audit hooks.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CODE = type((lambda: None).__code__)


_do_nothing: Any = {}.get  # the call of a hook: nothing but a look-up


def _set_call(hook: type, function: Any) -> None:
    """Set what an audit hook calls, with the hook as first argument if it is in Python."""
    type.__setattr__(hook, "__call__", function)


class _ExecKey:
    """A key that is looked up when `exec` is, and calls a function then."""

    def __init__(self, act: Any) -> None:
        self._act = act

    def __hash__(self) -> int:
        return hash("exec")

    def __eq__(self, other: object) -> bool:
        self._act()
        return False


class _FindingHook:
    """The first audit hook. What it calls is set in the class."""

    __cantrace__ = False
    __call__: Any = _do_nothing


class _ActingHook:
    """The second audit hook, which comes next with the same event."""

    __cantrace__ = False
    __call__: Any = _do_nothing


class ExecWatch:
    """Calls a function with all code that is about to be run by `exec`, by audit hooks."""

    # An audit hook cannot be removed, and events are as frequent as calls of `id`. So both hooks
    # call a method of a dictionary, which finds by itself that an event is of no interest; while an
    # `exec` goes through the hooks, the second one calls a function in Python.

    def __init__(self, act: Any) -> None:
        self._act = act
        self._finder: Any = {_ExecKey(self._begin_event): None}.get
        self._running = 0  # events between the two hooks

    def begin(self) -> None:
        """Add the hooks; until the program begins, the first one acts itself."""
        _set_call(_FindingHook, lambda _self, event, arguments: self._on_first(event, arguments))
        sys.addaudithook(_FindingHook())
        sys.addaudithook(_ActingHook())

    def run_next(self, function: Any) -> None:
        """Call a function with the current event next, as no other hook and traced."""
        _ActingHook.__cantrace__ = True
        _set_call(_ActingHook, function)

    def begin_next(self) -> None:
        """Call it no more: the program has begun."""
        _ActingHook.__cantrace__ = False
        _set_call(_ActingHook, _do_nothing)
        _set_call(_FindingHook, self._finder)

    def _on_first(self, event: str, arguments: Any) -> None:
        if event == "exec" and type(arguments[0]) is _CODE:
            self._act(arguments[0])
        elif event == "cpython.run_module":
            _set_call(_FindingHook, self._finder)

    def _begin_event(self) -> None:
        self._running += 1
        _set_call(_ActingHook, lambda _self, event, arguments: self._on_second(event, arguments))

    def _on_second(self, event: str, arguments: Any) -> None:
        if event == "exec":
            self._running -= 1
            if not self._running:
                _set_call(_ActingHook, _do_nothing)
            self._on_first(event, arguments)
