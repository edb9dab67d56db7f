"""Models a failed test: its location, its values, and the lines that made them. Pure."""

from __future__ import annotations

from msgspec import Struct

Pairs = tuple[tuple[str, str], ...]


Idents = tuple[tuple[str, int], ...]


class LineCall(Struct, frozen=True):
    """A call that a line made: what it was given, what it returned from which line, its steps.

    `ident` is the number of the object that it returned, `idents` are those of what it was given.
    `is_cut`: its steps were not kept.
    """

    function: str
    file: str
    line: int
    value: str
    arguments: Pairs = ()
    steps: tuple[FailureLine, ...] = ()
    ident: int = 0
    idents: Idents = ()
    is_cut: bool = False


class NameBinding(Struct, frozen=True, array_like=True):
    """A name that a line has bound to a value: object number `ident`."""

    name: str
    value: str
    ident: int = 0


class ChangedInPlace(Struct, frozen=True, array_like=True):
    """A change within the value of a name, at a path in it: `.total`, `['k']`.

    The object number `holder` holds what changed as `key`; for a variable of a module or an outer
    function the path is empty. `old` is there for scalars only; None in `new`: it was deleted.
    """

    name: str
    path: str
    old: str | None
    new: str | None
    holder: int
    key: str


class FailureLine(Struct, frozen=True, array_like=True):
    """A line of a call: the names that it bound, the calls it made, what it changed in place."""

    line: int
    bound: tuple[NameBinding, ...] = ()
    gave: tuple[LineCall, ...] = ()
    changed: tuple[ChangedInPlace, ...] = ()


class FailedFrame(Struct, frozen=True):
    """A function of the program's that the failure passed through.

    `idents` are the numbers of the objects that its names hold.
    """

    function: str
    file: str
    line: int
    locals: Pairs = ()
    steps: tuple[FailureLine, ...] = ()
    idents: Idents = ()


class LibraryFrame(Struct, frozen=True):
    """The library's function that it happened in."""

    function: str
    file: str
    line: int


class FailedTestRecord(Struct, frozen=True, tag=True, tag_field="event"):
    """A test that failed; `phase` is setup, call, teardown or collect, `frames` innermost first.

    `of` is the test that is run for it: another name than `name` has for a part of it. `limit` says
    why not all of its lines are known. `setup` are the calls that were made before it, of fixtures
    and setup methods.
    """

    runner: str
    name: str
    phase: str
    time_ns: int
    type: str
    message: str
    is_assertion: bool = False
    causes: tuple[str, ...] = ()
    frames: tuple[FailedFrame, ...] = ()
    total: int = 0
    inside: LibraryFrame | None = None
    of: str = ""
    limit: str = ""
    setup: tuple[LineCall, ...] = ()
