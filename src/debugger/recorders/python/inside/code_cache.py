"""Keeps the rewritten code of modules in files, so that the next run need not rewrite it.

What is kept of a function is its new bytecode and the kinds of its added constants: the hooks
themselves belong to one process. A function is found by all that its new bytecode depends on. A
file is read and written as a whole, and only in a folder that nobody else can write to.
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
_CONSTANTS: tuple[Any, ...] = (None, Exception)  # that are the same in each process
_GUARDS = ("calls", "budget", "further", "resumptions", "yields", "all_lines", "hits")


class CachedModule:
    """The rewritten functions of one module: those of the file, and those that it lacked."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._pieces: dict[Any, Any] = _read_pieces(path) if path else {}
        self._used: dict[Any, Any] = {}
        self._is_changed = False

    def restore(self, hooks: Any, code_type: Any) -> CodeType | None:
        """Return a function with its hooks; None if it is not known."""
        key = _find_key(hooks)
        piece = self._pieces.get(key)
        if piece is None:
            return None
        text, locations, handlers, stack, kinds = piece
        self._used[key] = piece
        source = hooks.source
        constants = [_find_constant(one, hooks) for one in kinds]
        made: CodeType = code_type.replace(
            source,
            co_code=text,
            co_consts=(*source.co_consts, *constants),
            co_linetable=locations,
            co_exceptiontable=handlers,
            co_stacksize=stack,
        )
        return made

    def keep(self, hooks: Any, made: CodeType) -> None:
        """Add a function that was rewritten now; one with constants of another kind is not kept."""
        added = made.co_consts[len(hooks.source.co_consts) :]
        names = {id(getattr(hooks, name)): name for name in _GUARDS}
        names.update((id(one), f"={name}") for name, one in hooks.callbacks.items())
        guards = {id(guard): (line,) for line, guard in hooks.lines.items()}
        kinds: list[Any] = []
        for one in added:
            if one is None or one is Exception:
                kinds.append([_CONSTANTS.index(one)])
            elif id(one) in names:
                kinds.append(names[id(one)])
            elif id(one) in guards:
                kinds.append(guards[id(one)])
            elif type(one) is int:
                kinds.append(one)
            else:
                return
        # Its inner functions are constants that another process makes anew.
        piece = (
            made.co_code, made.co_linetable, made.co_exceptiontable, made.co_stacksize, kinds,
        )  # fmt: skip
        self._used[_find_key(hooks)] = piece
        self._is_changed = True

    def close(self) -> None:
        """Write the file, if a function was not in it."""
        if self._path and self._is_changed:
            _write_pieces(self._path, self._used)


class CodeCache:
    """The files of the rewritten modules of one recorder and one Python."""

    def __init__(self, folder: str) -> None:
        self._folder = folder if folder and _is_private(folder) else ""
        self._interpreter = sys.version.encode()

    def open_module(self, code: CodeType, mode: str) -> CachedModule:
        """Return what is kept of a module; `mode` is what its code reports."""
        if not self._folder:
            return CachedModule("")
        text = os.fsencode(os.path.abspath(code.co_filename))  # noqa: PTH100 - pathlib is slow
        name = source_hash(_SEED, b"\0".join((text, mode.encode(), self._interpreter))).hex()
        return CachedModule(os.path.join(self._folder, name))  # noqa: PTH118 - the same


def _is_private(folder: str) -> bool:
    """Tell whether nobody else, not even the user that this process was started by, writes it."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    return found.st_uid == os.geteuid() and not found.st_mode & _OTHERS


def _find_key(hooks: Any) -> tuple[Any, ...]:
    code = hooks.code
    text = code.co_code + code.co_linetable + code.co_exceptiontable
    sizes = (len(code.co_code), len(code.co_linetable), len(code.co_consts), len(code.co_names))
    has_lines = "line" in hooks.callbacks
    return (source_hash(_SEED, text), *sizes, code.co_stacksize, code.co_firstlineno, has_lines)


def _find_constant(kind: Any, hooks: Any) -> Any:
    if type(kind) is str:
        return hooks.callbacks[kind[1:]] if kind[0] == "=" else getattr(hooks, kind)
    if type(kind) is tuple:
        return hooks.line_guard(kind[0])
    return kind if type(kind) is int else _CONSTANTS[kind[0]]


def _read_pieces(path: str) -> dict[Any, Any]:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib is slow to import
            content = file.read(_BYTES_MAX + 1)
        text = content[_HASH:]
        # It may have been cut, as by a full disk.
        if content[:_HASH] == source_hash(_SEED, text):
            found: dict[Any, Any] = marshal.loads(text)  # noqa: S302 - it is ours alone
            return found
    except (OSError, ValueError, EOFError, TypeError):
        pass
    return {}


def _write_pieces(path: str, pieces: dict[Any, Any]) -> None:
    draft = f"{path}.{os.getpid()}"
    try:
        text = marshal.dumps(pieces)
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
