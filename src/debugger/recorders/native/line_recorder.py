"""Records which lines of a native program ran, without instrumenting or rebuilding it."""

from __future__ import annotations

import os
import platform
import sys
from array import array
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import structs

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.group_labels import RANK_VARIABLES
from debugger.model.location import is_library
from debugger.recorders.model import (
    CallsMerged,
    LinesHit,
    RecordedFunction,
    RecordedProcess,
    Recording,
)
from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.elf_file import demangle

_SCRIPT = str(Path(__file__).parent / "inside" / "run_once.py")
_FOLDER, _PYTHON, _OURS = "DEBUGGER_ONCE", "DEBUGGER_ONCE_PYTHON", "DEBUGGER_ONCE_SCRIPT"
_RANK = f'exec "${_PYTHON}" -I "${_OURS}" "$@"'
# In front of a rank's program: it finds the recorder of the machine that it starts on.
RANK_WORDS = ("/bin/sh", "-c", _RANK, "debugger")
_ADDRESSES_MAX = 400_000


class _CodeLine(NamedTuple):
    """The statement at an address, in link-time addresses."""

    address: int
    file: str
    line: int


class NativeLines:
    """The lines of a program's own sources, and where their code begins."""

    def __init__(self, program: str, cwd: str) -> None:
        """Read the program's line tables.

        Raises:
            DebuggerError: NOT_SUPPORTED where no line of its own sources is known, or here.
        """
        self.program = os.path.realpath(program)
        if platform.machine() != "x86_64" or sys.platform != "linux":
            raise DebuggerError(
                ErrorCode.NOT_SUPPORTED,
                "lines of native programs are recorded on x86-64 Linux only",
                hint="debugger probe --at FUNC 'EXPR, EXPR' -- CMD",
            )
        image = BinaryImage(self.program)
        lines = image.lines
        own = [one for one in lines.files if not is_library(one, cwd) and Path(one).is_file()]
        found = {
            address: _CodeLine(address, file, line)
            for file, line, address in lines.statements_of(own)
        }
        self.statements = [found[address] for address in sorted(found)][:_ADDRESSES_MAX]
        self.lowest = image.binary.lowest_address
        self._image = image
        self._names: dict[int, RecordedFunction] = {}
        if not self.statements:
            raise DebuggerError(
                ErrorCode.NOT_SUPPORTED,
                f"{Path(program).name} has no debug information of sources of its own",
                hint="compile it with -g",
            )

    def function_at(self, one: _CodeLine) -> RecordedFunction:
        """Return the function that an address is in, by its symbol."""
        symbol = self._image.symbols.symbol_at(one.address)
        start = symbol.address if symbol is not None else 0
        if start not in self._names:
            name = demangle(symbol.name) if symbol is not None else ""
            number = len(self._names) + 1
            self._names[start] = RecordedFunction(number, name, one.file, one.line)
        return self._names[start]

    def close(self) -> None:
        """Close the program's files."""
        self._image.close()


class NativeLineRecorder:
    """Runs a program with a breakpoint at each of its lines (`ProcessRecorder`).

    With `is_each` its processes, or the ranks that a launcher starts, are recordings of their own.
    """

    def __init__(self, lines: NativeLines, *, is_each: bool = False) -> None:
        self._lines = lines
        self._is_each = is_each

    def command_line(self, words: Sequence[str]) -> list[str]:
        """Return the command that runs the program recorded."""
        return [sys.executable, "-I", _SCRIPT, self._lines.program, *words[1:]]

    def recording_environment(self, env: Mapping[str, str], folder: Path) -> dict[str, str]:
        """Write the request, and name its folder."""
        records = folder / "once"
        records.mkdir(mode=0o700)
        request = {
            "program": self._lines.program,
            "lowest": self._lines.lowest,
            "is_each": self._is_each,
            "variables": RANK_VARIABLES if self._is_each else (),
        }
        (records / "request.json").write_bytes(msgspec.json.encode(request))
        addresses = array("Q", [one.address for one in self._lines.statements])
        (records / "addresses").write_bytes(addresses.tobytes())
        return {**env, _FOLDER: str(records), _PYTHON: sys.executable, _OURS: _SCRIPT}

    def last_words(self, pid: int) -> bool:  # noqa: ARG002 - a protocol
        """Do nothing: what was reached is written at once."""
        return False

    def read_recordings(
        self, folder: Path, pid: int
    ) -> tuple[tuple[Recording, ...], tuple[str, ...]]:
        """Read the lines that were reached, in the order of their first time."""
        records = folder / "once"
        found: list[Recording] = []
        for path in sorted(records.glob("reached-*"), key=lambda one: one.stat().st_ctime_ns):
            first = int(path.name.partition("-")[2])
            for process, numbers in _read_reached(path, first).items():
                made = self._make_recording(process if self._is_each else pid, numbers)
                variables = _read_variables(records / f"variables-{first}")
                own = structs.replace(made.process, variables=variables, is_fork=process != first)
                found.append(structs.replace(made, process=own))
        return tuple(found) or (self._make_recording(pid, ()),), ()

    def _make_recording(self, pid: int, reached: Iterable[int]) -> Recording:
        firsts: dict[RecordedFunction, dict[tuple[str, int], int]] = {}
        for order, number in enumerate(reached):
            one = self._lines.statements[number]
            lines = firsts.setdefault(self._lines.function_at(one), {})
            lines.setdefault((one.file, one.line), order)
        return _make_recording(pid, firsts)


def _read_reached(path: Path, first: int) -> dict[int, list[int]]:
    """Read the numbers of the lines that each process reached; the program's own comes first."""
    pairs = array("I")
    content = path.read_bytes()
    size = 2 * pairs.itemsize
    pairs.frombytes(content[: len(content) // size * size])
    found: dict[int, list[int]] = {first: []}
    for process, number in zip(pairs[::2], pairs[1::2], strict=True):
        found.setdefault(process, []).append(number)
    return found


def _read_variables(path: Path) -> dict[str, str]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, str])
    except (OSError, msgspec.DecodeError):  # it was killed before it wrote them
        return {}


def _make_recording(
    pid: int, firsts: Mapping[RecordedFunction, Mapping[tuple[str, int], int]]
) -> Recording:
    functions: dict[int, RecordedFunction] = {}
    events: list[CallsMerged | LinesHit] = []
    for function, lines in firsts.items():
        # Code of another file, such as an inlined function's, is listed under that file.
        for file in dict.fromkeys(file for file, _ in lines):
            number = len(functions) + 1
            own = {line: order for (other, line), order in lines.items() if other == file}
            functions[number] = RecordedFunction(number, function.name, file, min(own))
            events.append(CallsMerged(number, 0, number, 1, min(own.values()), 1))
            events.append(LinesHit(number, tuple(own), tuple(own.values())))
    return Recording(
        process=RecordedProcess(pid=pid, language="native"),
        functions=functions,
        threads={1: ""} if functions else {},
        events=tuple(events),
        is_whole=True,
    )
