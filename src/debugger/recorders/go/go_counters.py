"""Holds the Go source of the counters, and reads the counter files of a finished run.

Counters live in files mapped into memory, so counts survive a panic, a signal and a deadlock. At
the start and at the end of a recording window all counter files are copied, once in the life of a
process. Packages that contain such a location need not know of each other, because the files alone
hold the window's state.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

FOLDER = "DEBUGGER_COUNTED"
_BEGIN, _END, _EDGES = "begin", "end", "edges"
_DONE = 2
_HALF = 1 << 31
_TEXT = """package {package}

import (
\t"os"
\t"strconv"
\t"strings"
\t"sync/atomic"
\t"syscall"
\t"unsafe"
)

type debuggerCounts struct{{ Count []uint32 }}

var debuggerFolder = os.Getenv("{folder}")
var debuggerEdges = debuggerCounted("{edges}", 2).Count

func debuggerCounted(number string, parts int) debuggerCounts {{
\tif held := debuggerMapped(number, parts); held != nil {{
\t\treturn debuggerCounts{{held}}
\t}}
\treturn debuggerCounts{{make([]uint32, parts)}}
}}

func debuggerMapped(number string, parts int) []uint32 {{
\tif debuggerFolder == "" || parts == 0 {{
\t\treturn nil
\t}}
\tname := debuggerFolder + "/" + strconv.Itoa(os.Getpid()) + "-" + number
\tfile, failed := syscall.Open(name, syscall.O_RDWR|syscall.O_CREAT|syscall.O_CLOEXEC, 0600)
\tif failed != nil {{
\t\treturn nil
\t}}
\tdefer syscall.Close(file)
\tif syscall.Ftruncate(file, int64(4*parts)) != nil {{
\t\treturn nil
\t}}
\tshared := syscall.PROT_READ | syscall.PROT_WRITE
\theld, failed := syscall.Mmap(file, 0, 4*parts, shared, syscall.MAP_SHARED)
\tif failed != nil {{
\t\treturn nil
\t}}
\treturn (*[1 << 26]uint32)(unsafe.Pointer(&held[0]))[:parts:parts]
}}

// A place is passed where the counting ends (2), or begins (1). isAhead: its block is yet to be
// counted, and is to be with what ends there.
func debuggerPassed(edges uint32, count *uint32, isAhead bool) {{
\tfirst, last := debuggerEdges[0], debuggerEdges[1]
\tif edges&1 != 0 && first == 0 || edges&2 != 0 && first == {done} && last == 0 {{
\t\tdebuggerMet(edges, count, isAhead)
\t}}
}}

func debuggerMet(edges uint32, count *uint32, isAhead bool) {{
\theld := debuggerEdges
\tif edges&2 != 0 && atomic.LoadUint32(&held[0]) == {done} {{
\t\tif atomic.CompareAndSwapUint32(&held[1], 0, 1) {{
\t\t\tif isAhead {{
\t\t\t\t*count++
\t\t\t}}
\t\t\tif debuggerCopied("{end}") {{
\t\t\t\tatomic.StoreUint32(&held[1], {done})
\t\t\t}}
\t\t\tif isAhead {{
\t\t\t\t*count--
\t\t\t}}
\t\t}}
\t}}
\tif edges&1 != 0 && atomic.CompareAndSwapUint32(&held[0], 0, 1) {{
\t\tif debuggerCopied("{begin}") {{
\t\t\tatomic.StoreUint32(&held[0], {done})
\t\t}}
\t}}
}}

func debuggerCopied(edge string) bool {{
\tfound, failed := os.ReadDir(debuggerFolder)
\tif failed != nil {{
\t\treturn false
\t}}
\town := strconv.Itoa(os.Getpid()) + "-"
\tfor _, one := range found {{
\t\tif !strings.HasPrefix(one.Name(), own) {{
\t\t\tcontinue
\t\t}}
\t\theld, failed := os.ReadFile(debuggerFolder + "/" + one.Name())
\t\tif failed != nil {{
\t\t\treturn false
\t\t}}
\t\tcopied := debuggerFolder + "/" + edge + "-" + one.Name()
\t\tif os.WriteFile(copied, held, 0600) != nil {{
\t\t\treturn false
\t\t}}
\t}}
\treturn true
}}
"""


class CounterFiles(Struct):
    """The counter files of one process.

    Only `find_counter_files` changes an instance.
    """

    has_begun: bool = False
    has_ended: bool = False
    # By window edge and source number; the edge "" has the final counts.
    files: dict[str, dict[int, Path]] = field(default_factory=dict)

    def read_counts(self, number: int) -> array[int] | None:
        """Return the count of each block of a source: in total, or within the window."""
        last = self._read_counter(_END if self.has_ended else "", number)
        before = self._read_counter(_BEGIN, number) if self.has_begun else None
        if last is None or before is None:
            return last
        # Threads that count at the same moment may set a counter back.
        some = [(new - old) % (2 * _HALF) for new, old in zip(last, before, strict=False)]
        return array("I", [one if one < _HALF else 0 for one in some])

    def _read_counter(self, edge: str, number: int) -> array[int] | None:
        path = self.files.get(edge, {}).get(number)
        return _read_numbers(path) if path is not None else None


def text_of(package: str) -> str:
    """Return the Go source that creates the counters of a package."""
    return _TEXT.format(
        package=package, folder=FOLDER, edges=_EDGES, done=_DONE, begin=_BEGIN, end=_END
    )


def find_counter_files(folder: Path) -> Mapping[int, CounterFiles]:
    """Return the counter files of each process in the folder."""
    found: dict[int, CounterFiles] = {}
    for path in sorted(folder.iterdir()):
        *edge, process, number = ["", *path.name.split("-")]
        if not process.isdigit():
            continue
        one = found.setdefault(int(process), CounterFiles())
        if number.isdigit():
            one.files.setdefault(edge[-1], {})[int(number)] = path
        elif number == _EDGES and not edge[-1]:
            begun, ended, *_ = [
                *_read_numbers(path),
                0,
                0,
            ]  # it was ended before it had made the file
            one.has_begun, one.has_ended = begun == _DONE, ended == _DONE
    return found


def _read_numbers(path: Path) -> array[int]:
    times = array("I")
    held_ = path.read_bytes()
    times.frombytes(held_[: len(held_) // times.itemsize * times.itemsize])
    return times
