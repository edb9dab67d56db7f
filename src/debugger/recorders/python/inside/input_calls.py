"""Recognizes the calls by which a program gets values from outside: files, sockets, time, random.

A file's name and the offset of a read are taken before the read, from files of the interpreter's
own types that are open for reading only.
"""

from __future__ import annotations

import ast
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FILES = frozenset({"TextIOWrapper", "BufferedReader", "FileIO", "BufferedRandom"})
_READING = frozenset({"read", "readline", "readlines", "read1", "readinto", "readinto1", "readall"})
_LOADING = frozenset({"load", "reader", "DictReader", "safe_load", "parse", "next"})
_PATH_READS = frozenset({"read_text", "read_bytes"})
_RECEIVING = frozenset({"recv", "recvfrom", "recvmsg", "recv_into", "recvfrom_into"})
_CLOCKS = frozenset(
    {"time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns"}
    | {"process_time", "localtime", "gmtime", "strftime", "ctime"}
)
_DATES = frozenset({"now", "today", "utcnow"})
_RANDOM_MODULES = frozenset({"random", "secrets"})
_SYSTEM = frozenset({"urandom", "getpid", "getcwd", "listdir", "getenv", "uuid4", "uuid1"})
_RUNNING = frozenset({"check_output", "run", "getoutput", "Popen"})
# Calls of modules that are given the number of an open file.
_NUMBERED = frozenset({("os", "read"), ("os", "pread"), ("posix", "read"), ("mmap", "mmap")})
_BY_NUMBER = frozenset(name for _, name in _NUMBERED)
_NAME: Any = type.__dict__["__name__"].__get__
_MODULE: Any = type.__dict__["__module__"].__get__
_ModuleType = type(os)


class InputCalls:
    """Describes calls that read an input, and counts the reads of each file."""

    def __init__(self, plans: Any) -> None:
        self._plans = plans
        self._reads: dict[int, tuple[str, int]] = {}  # of each file, by its identity

    def before_call(self, node: ast.Call, scope: Any, reader: Any) -> str:
        """Describe the read that a call is about to do; "" if it reads no file."""
        name = self._plans.call_name(node)
        if name in _BY_NUMBER and isinstance(node.func, ast.Attribute):
            module = getattr(reader.read(node.func.value, scope), "__name__", "")
            if (module, name) in _NUMBERED:
                return self._numbered_input(node, name, scope, reader)
        if name in _READING and isinstance(node.func, ast.Attribute):
            file = reader.read(node.func.value, scope)
        elif node.args and name in _LOADING:
            file = reader.read(node.args[0], scope)
        else:
            return ""
        if file is reader.missing:
            return ""
        return self.describe_file(file)

    def _numbered_input(self, node: ast.Call, name: str, scope: Any, reader: Any) -> str:
        """Describe a read, or a mapping, of a file by the number that the system gave it."""
        values = [reader.read(one, scope) for one in node.args]
        number = values[0] if values else None
        given = node.args[0] if node.args else None
        if isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute):
            number = _file_number(reader.read(given.func.value, scope))
        if type(number) is not int:
            return ""
        try:
            path = os.readlink(f"/proc/self/fd/{number}")  # noqa: PTH115 - of a small module
        except OSError:
            path = f"descriptor {number}"
        if name == "mmap":
            starts = [one.value for one in node.keywords if one.arg == "offset"]
            at = reader.read(starts[0], scope) if starts else 0
            return f"file {path}, mapped, offset {at:,}" if type(at) is int else ""
        try:
            at = values[2] if name == "pread" else os.lseek(number, 0, os.SEEK_CUR)
        except (OSError, IndexError):
            return f"file {path}"  # a pipe, or another stream
        known = self._reads.get(-1 - number, ("", 0))
        count = known[1] + 1 if known[0] == path else 1
        self._reads[-1 - number] = (path, count)
        return f"file {path}, read {count:,}, offset {at:,}" if type(at) is int else f"file {path}"

    def describe_file(self, file: Any, *, is_read: bool = True) -> str:
        """Describe a file of the interpreter's own, with the offset of the next read."""
        kind = type(file)
        if _MODULE(kind) not in ("_io", "io") or _NAME(kind) not in _FILES:
            return ""
        path = getattr(file, "name", "?")
        path = "standard input" if path in (0, "<stdin>") else f"file {path}"
        text = ""
        try:
            if not file.writable() and file.seekable():
                at = file.tell()
                text = f", offset {at:,}"
                # An offset in a text is no number of bytes where decoding has a state.
                if at and at == os.fstat(file.fileno()).st_size:
                    text += ", the end of the file"
        except (OSError, ValueError):  # it is read line by line, or closed
            text = ""
        if not is_read:
            return f"{path}{text}"
        known, count = self._reads.get(id(file), ("", 0))
        count = count + 1 if known == path else 1
        self._reads[id(file)] = (path, count)
        return f"{path}, read {count:,}{text}"

    def call_input(  # noqa: C901, PLR0911 - one for each kind of input
        self, node: ast.Call, scope: Any, reader: Any
    ) -> str:
        """Describe the input that a finished call gave; "" if it gave none."""
        found = scope.files.get(id(node))
        if found:
            return str(found)
        name = self._plans.call_name(node)
        function = node.func
        if isinstance(function, ast.Name):
            return self._plain_input(name, node, scope, reader)
        if not isinstance(function, ast.Attribute):
            return ""
        if name in _PATH_READS or name in _READING:
            return self._opened_input(node, function.value, scope, reader)
        base = reader.read(function.value, scope)
        if type(base) is _ModuleType:
            return _module_input(base, name, node, scope, reader)
        if base is reader.missing:
            return ""
        kind = type(base)
        if name in _RECEIVING and _NAME(kind) == "socket":
            return f"socket, {name}"
        if kind is type and name in _DATES and _MODULE(base) == "datetime":
            return f"the clock, {_NAME(base)}.{name}()"
        if _MODULE(kind) == "random" and _NAME(kind) == "Random":
            return f"random, {name}()"
        if _NAME(kind) == "_Environ" and _MODULE(kind) == "os" and name == "get":
            return f"environment variable {_argument_text(node, scope, reader)}"
        return ""

    def _plain_input(self, name: str, node: ast.Call, scope: Any, reader: Any) -> str:
        value = scope.name_value(name)
        if value is input:
            return "standard input, input()"
        module = getattr(value, "__module__", "") if type(value) is type(len) else ""
        if module in ("time", "posix") and name in (_CLOCKS | _SYSTEM):
            return f"the clock, {name}()" if module == "time" else f"the system, {name}()"
        owner = getattr(value, "__self__", None)
        if type(value) is not type(len) and _MODULE(type(owner)) == "random":
            return f"random, {name}()"
        if getattr(value, "__module__", "") == "os" and name == "getenv":
            return f"environment variable {_argument_text(node, scope, reader)}"
        return ""

    def _opened_input(self, node: ast.Call, owner: Any, scope: Any, reader: Any) -> str:
        """Describe `open(path).read()` and `path.read_text()`."""
        name = self._plans.call_name(node)
        if isinstance(owner, ast.Call) and owner.args:
            if self._plans.call_name(owner) in ("open", "Path"):
                path = reader.read(owner.args[0], scope)
                shown = path if type(path) is str else ast.unparse(owner.args[0])
                return f"file {shown}, read 1, offset 0"
            return ""
        value = reader.read(owner, scope)
        is_path = _MODULE(type(value)).startswith("pathlib")
        if name in _PATH_READS and value is not reader.missing and is_path:
            return f"file {value!s}, read 1, offset 0"
        if _NAME(type(value)) == "socket":
            return f"socket, {name}"
        return ""

    def special_item(self, holder: Any, key: str) -> str:
        """Name the input that an item is by itself: an argument, an environment variable."""
        if holder is sys.argv:
            return f"argument {key[1:-1]} of the command line"
        if _NAME(type(holder)) == "_Environ" and _MODULE(type(holder)) == "os":
            return f"environment variable {key[1:-1]}"
        return ""

    def environment_value(self, base: Any, key: str, missing: Any) -> Any:
        """Return the value of an environment variable; `missing` for any other object."""
        if base is not os.environ:
            return missing
        data: Any = getattr(base, "_data", {})
        found = data.get(os.fsencode(key), missing)
        return os.fsdecode(found) if type(found) is bytes else found


def _file_number(file: Any) -> int | None:
    """Return the number of an open file of the interpreter's own; None of anything else."""
    if _MODULE(type(file)) not in ("_io", "io") or _NAME(type(file)) not in _FILES:
        return None
    try:
        return int(file.fileno())
    except (OSError, ValueError):  # it is closed
        return None


def _module_input(base: Any, name: str, node: ast.Call, scope: Any, reader: Any) -> str:
    module = getattr(base, "__name__", "")
    if module == "time" and name in _CLOCKS:
        return f"the clock, time.{name}()"
    if module in _RANDOM_MODULES:
        return f"random, {module}.{name}()"
    if module == "os" and name == "getenv":
        return f"environment variable {_argument_text(node, scope, reader)}"
    if module in ("os", "uuid") and name in _SYSTEM:
        return f"the system, {module}.{name}()"
    if module == "subprocess" and name in _RUNNING:
        return f"the output of a process, subprocess.{name}()"
    return ""


def _argument_text(node: ast.Call, scope: Any, reader: Any) -> str:
    if not node.args:
        return "?"
    value = reader.read(node.args[0], scope)
    return value if type(value) is str else ast.unparse(node.args[0])
