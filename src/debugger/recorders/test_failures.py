"""Models a failed test: its location, its values, and the lines that made them. Pure."""

from __future__ import annotations

from msgspec import Struct

Pairs = tuple[tuple[str, str], ...]


Idents = tuple[tuple[str, int], ...]


class LineCall(Struct, frozen=True):
    """A call that a line made: its arguments, its value, the returning line, its steps."""

    function: str
    file: str
    line: int
    value: str
    arguments: Pairs = ()
    steps: tuple[FailureLine, ...] = ()
    # The number of the returned object.
    ident: int = 0
    # The numbers of the arguments' objects.
    idents: Idents = ()
    # Its steps were dropped.
    is_cut: bool = False


class NameBinding(Struct, frozen=True, array_like=True):
    """A line bound a name to a value, the object number `ident`."""

    name: str
    value: str
    ident: int = 0


class ChangedInPlace(Struct, frozen=True, array_like=True):
    """A line changed the value of a name in place, at a path such as `.total` or `['k']`."""

    name: str
    # Empty for a variable of a module or an outer function.
    path: str
    # Only for scalars.
    old: str | None
    # None: it was deleted.
    new: str | None
    # The number of the object that holds the changed value as `key`.
    holder: int
    key: str


class FailureLine(Struct, frozen=True, array_like=True):
    """A line of a call: the names that it bound, its calls, and its changes in place."""

    line: int
    bound: tuple[NameBinding, ...] = ()
    gave: tuple[LineCall, ...] = ()
    changed: tuple[ChangedInPlace, ...] = ()


class FailedFrame(Struct, frozen=True):
    """A function of the program that the failure passed through."""

    function: str
    file: str
    line: int
    locals: Pairs = ()
    steps: tuple[FailureLine, ...] = ()
    # The numbers of the objects of its names.
    idents: Idents = ()


class LibraryFrame(Struct, frozen=True):
    """The library function in which the failure happened."""

    function: str
    file: str
    line: int


class FailedTestRecord(Struct, frozen=True, tag=True, tag_field="event"):
    """A failed test."""

    runner: str
    name: str
    # setup, call, teardown or collect.
    phase: str
    time_ns: int
    type: str
    message: str
    is_assertion: bool = False
    causes: tuple[str, ...] = ()
    # Innermost first.
    frames: tuple[FailedFrame, ...] = ()
    total: int = 0
    inside: LibraryFrame | None = None
    # The test to run again, if `name` is only a part of it.
    of: str = ""
    # The reason if not all of its lines are known.
    limit: str = ""
    # Calls before the test: fixtures and setup methods.
    setup: tuple[LineCall, ...] = ()
