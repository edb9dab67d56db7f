"""Keeps the rewritten code of modules in files, so that the next run need not rewrite it.

What is kept of a function is its new bytecode and the kinds of its added constants: the hooks
themselves belong to one process. A module is found by all of its code, and its functions by their
order. A file is read and written as a whole, and only in a folder that nobody else can write to.
"""

from __future__ import annotations

import marshal
import os
import sys
from _imp import source_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

_SEED = 0x6465_6275_6767  # of the hashes
_HASH = 8  # bytes of one
_OTHERS = 0o077  # rights of group and others
_BYTES_MAX = 4 << 20  # of a file
_PLAIN_FORMAT = 2  # of marshal: without references, which differ from run to run
_CONSTANTS: tuple[Any, ...] = (None, Exception)  # that are the same in each process
_OWN = ("key", "calls", "budget", "further", "resumptions", "yields", "all_lines", "hits")


class CachedModule:
    """The rewritten functions of one module: those of the file, or those that it lacked."""

    def __init__(self, path: str, code: CodeType) -> None:
        self._path = path
        self._code: tuple[bytes, int] = _describe_code(code) if path else (b"", 0)
        found, pieces = _read_pieces(path) if path else (None, [])
        self._is_known = found == self._code
        # None for a function that cannot be kept.
        self._pieces: list[Any] = pieces if self._is_known else []
        self._at = 0

    def restore(self, hooks: Any) -> CodeType | None:
        """Return the next function with its hooks; None if it is not known."""
        if not self._is_known:
            return None
        piece = self._pieces[self._at]
        self._at += 1
        if piece is None:
            return None
        text, locations, handlers, stack, kinds = piece
        constants = [
            kind
            if type(kind) is int
            else hooks.line_guard(kind[0])
            if type(kind) is tuple
            else _find_constant(kind, hooks)
            for kind in kinds
        ]
        made: CodeType = hooks.code.replace(
            co_code=text,
            co_consts=(*hooks.constants, *constants),
            co_linetable=locations,
            co_exceptiontable=handlers,
            co_stacksize=stack,
        )
        return made

    def keep(self, hooks: Any, made: CodeType) -> None:
        """Add a function that was rewritten now; one with constants of another kind is not kept."""
        if self._path and not self._is_known:
            self._pieces.append(_describe_function(hooks, made))

    def close(self) -> None:
        """Write the file, if the module was not in it."""
        if self._path and not self._is_known:
            _write_pieces(self._path, (self._code, self._pieces))


def _describe_code(code: CodeType) -> tuple[bytes, int]:
    """Return a hash and the size of all that a module's code has."""
    text = marshal.dumps(code, _PLAIN_FORMAT)
    return source_hash(_SEED, text), len(text)


def _describe_function(hooks: Any, made: CodeType) -> tuple[Any, ...] | None:
    names = {id(getattr(hooks, name)): name for name in _OWN}
    names.update((id(one), f"={name}") for name, one in hooks.callbacks.items())
    guards = {id(guard): (line,) for line, guard in hooks.lines.items()}
    kinds: list[Any] = []
    for one in made.co_consts[len(hooks.constants) :]:
        if one is None or one is Exception:
            kinds.append([_CONSTANTS.index(one)])
        elif id(one) in names:
            kinds.append(names[id(one)])
        elif id(one) in guards:
            kinds.append(guards[id(one)])
        elif type(one) is int:
            kinds.append(one)
        else:
            return None
    # Its inner functions are constants that another process makes anew.
    return (made.co_code, made.co_linetable, made.co_exceptiontable, made.co_stacksize, kinds)


class CodeCache:
    """The files of the rewritten modules of one recorder and one Python."""

    def __init__(self, folder: str) -> None:
        self._folder = folder if folder and _is_private(folder) else ""
        self._interpreter = sys.version.encode()

    def open_module(self, code: CodeType, mode: str, *, is_main: bool) -> CachedModule:
        """Return what is kept of a module, or of the script; `mode` is what its code reports."""
        if not self._folder:
            return CachedModule("", code)
        text = os.fsencode(os.path.abspath(code.co_filename))  # noqa: PTH100 - pathlib is slow
        kind = f"{mode} {is_main}".encode()
        name = source_hash(_SEED, b"\0".join((text, kind, self._interpreter))).hex()
        return CachedModule(os.path.join(self._folder, name), code)  # noqa: PTH118 - the same


def _is_private(folder: str) -> bool:
    """Return whether nobody else, not even the user that this process was started by, writes it."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    return found.st_uid == os.geteuid() and not found.st_mode & _OTHERS


def _find_constant(kind: Any, hooks: Any) -> Any:
    if type(kind) is str:
        return hooks.callbacks[kind[1:]] if kind[0] == "=" else getattr(hooks, kind)
    return _CONSTANTS[kind[0]]


def _read_pieces(path: str) -> tuple[Any, list[Any]]:
    """Return what the code was described by, and its functions."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib is slow to import
            content = file.read(_BYTES_MAX + 1)
        text = content[_HASH:]
        # It may have been cut, as by a full disk.
        if content[:_HASH] == source_hash(_SEED, text):
            known, pieces = marshal.loads(text)  # noqa: S302 - it is ours alone
            return known, pieces
    except (OSError, ValueError, EOFError, TypeError):
        pass
    return None, []


def _write_pieces(path: str, content: tuple[Any, list[Any]]) -> None:
    draft = f"{path}.{os.getpid()}"
    try:
        text = marshal.dumps(content)
        if len(text) > _BYTES_MAX - _HASH:
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        descriptor = os.open(draft, flags, 0o600)
        try:
            os.write(descriptor, source_hash(_SEED, text) + text)
        finally:
            os.close(descriptor)
        os.replace(draft, path)  # noqa: PTH105 - pathlib is slow to import
    except (OSError, ValueError):
        return
